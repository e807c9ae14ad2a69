import { DatabaseSync } from "node:sqlite";
import { failureOf } from "../../sqlite/engine-errors.ts";
import { OpenFile } from "../../sqlite/in-place.ts";
import { databaseOfWorker, plain, serve } from "../../workers/serve.ts";
import { LogWriter } from "./log-writer.ts";
import type { PositionWriterCalls } from "./messages.ts";

/*
 * The worker that writes.
 * - wal_autocheckpoint: pages that SQLite's own log gathers before they are moved, 4 MB.
 * - journal_size_limit: what a long reader made it grow by is given back.
 */
const pragmas = `
  pragma page_size = 4096;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma wal_autocheckpoint = 1000;
  pragma journal_size_limit = 67108864;
`;
const busyTimeoutMs = 100;

let opened: { readonly database: DatabaseSync; readonly log: LogWriter; readonly file: OpenFile } | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function writer(): LogWriter {
  if (opened === undefined) {
    const database = new DatabaseSync(databaseOfWorker(), { timeout: busyTimeoutMs });
    database.exec(pragmas);
    opened = { database, log: new LogWriter(database), file: new OpenFile(databaseOfWorker()) };
  }
  return opened.log;
}

/** Writes to a file that is in its place before and afterwards: otherwise a report would be acknowledged, and found nowhere. */
function inPlace<T>(write: (log: LogWriter) => T): T {
  const log = writer();
  opened?.file.inPlace();
  const answer = write(log);
  opened?.file.inPlace();
  return answer;
}

serve<PositionWriterCalls>(
  {
    open: () => plain(writer().opening()),
    append: (buffer) => plain(inPlace((log) => log.append(buffer))),
    apply: (changes) => plain(writer().apply(changes)),
    deleteRows: (spent) => plain(writer().deleteRows(spent)),
    followed: (seq) => {
      writer().followed(seq);
      return plain(null);
    },
    keepFrom: (request) => {
      writer().keepFrom(request);
      return plain(null);
    },
    deleteBlocks: (request) => plain(writer().deleteBlocks(request)),
    check: () => {
      inPlace((log) => log.check());
      return plain(null);
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
