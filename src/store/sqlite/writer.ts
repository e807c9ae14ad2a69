import { DatabaseSync } from "node:sqlite";
import { databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { failureOf } from "./engine-errors.ts";
import { OpenFile } from "./in-place.ts";
import type { SqliteWriterCalls } from "./messages.ts";
import { Statements } from "./statements.ts";
import { inTransaction } from "./transaction.ts";

/*
 * The worker that writes the row tables. Everything is durable when it answers: a commit waits for the disk (synchronous=FULL).
 * - timeout: another program on the database (a backup) makes a commit wait this long at most, ms; who asked tries again.
 * - wal_autocheckpoint: pages that the log gathers before they are moved, 4 MB; pages of heads that many commits rewrite are moved once.
 * - journal_size_limit: what a long reader made the log grow by is given back.
 * - cache_size: 16 MB; used only as far as needed.
 */
const pragmas = `
  pragma page_size = 4096;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma wal_autocheckpoint = 1000;
  pragma journal_size_limit = 67108864;
  pragma cache_size = -16000;
`;
const busyTimeoutMs = 100;

class Writer {
  readonly database = new DatabaseSync(databaseOfWorker(), { timeout: busyTimeoutMs });
  readonly statements = new Statements(this.database);
  readonly #file = new OpenFile(databaseOfWorker());

  constructor() {
    this.database.exec(pragmas);
  }

  /** Writes to a file that is in its place before and afterwards. */
  whole<T>(write: () => T): T {
    this.#file.inPlace();
    const answer = write();
    this.#file.inPlace();
    return answer;
  }
}

let opened: Writer | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function writer(): Writer {
  opened ??= new Writer();
  return opened;
}

serve<SqliteWriterCalls>(
  {
    sql: (request) => {
      const { database, statements } = writer();
      // Inside a transaction, the commit looks after the file.
      if (database.isTransaction) return plain(statements.run(request));
      return plain(writer().whole(() => statements.run(request)));
    },
    together: (requests) => {
      const { database, statements } = writer();
      const run = () => requests.map((request) => statements.run(request).changes);
      return plain(writer().whole(() => inTransaction(database, run)));
    },
    begin: () => {
      writer().database.exec("begin immediate");
      return plain(null);
    },
    commit: () => {
      writer().whole(() => writer().database.exec("commit"));
      return plain(null);
    },
    rollback: () => {
      if (writer().database.isTransaction) writer().database.exec("rollback");
      return plain(null);
    },
    check: () => {
      const touch = writer().database.prepare(
        "insert into setting (name, value) values ('check', '0') on conflict (name) do update set value = value + 1",
      );
      writer().whole(() => touch.run());
      return plain(null);
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
