import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { BatchWriter } from "./batch-writer.ts";
import { failureOf, isDamage, sqliteError } from "./engine-errors.ts";
import type { SqliteWriterCalls } from "./messages.ts";
import { closeMarked, markClosed, markOpen } from "./open-mark.ts";
import { mendPatchIndex } from "./patch-index.ts";
import { addSumFunctions } from "./row-sums.ts";
import { tailEndDamaged } from "./scans.ts";
import { Statements } from "./statements.ts";
import { Swap } from "./swap.ts";
import { inTransaction } from "./transaction.ts";

/*
 * The worker that writes. Everything is durable when it answers: a commit waits for the disk (synchronous=FULL).
 * - timeout: another program on the database (a backup) makes a commit wait this long at most, ms; who asked tries again.
 * - page_size: rows of 100 bytes to some kilobytes are written twice as fast as with the default of 4096, by measurement.
 * - wal_autocheckpoint: pages that the log gathers before they are moved, 4 MB; pages of states that many commits rewrite are moved once. Moving them takes
 *   6 ms, in which there is still something to decode; with 16 MB everything waited for 25 ms, and 5 to 10 % fewer positions came in.
 * - journal_size_limit: what a long reader made the log grow by is given back.
 * - cache_size: 16 MB, the states of some 50,000 devices; used only as far as needed.
 */
const pragmas = `
  pragma page_size = 8192;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma wal_autocheckpoint = 500;
  pragma journal_size_limit = 67108864;
  pragma cache_size = -16000;
`;
const busyTimeoutMs = 100;
/** SQLITE_CANTOPEN: the store is unavailable, until the file is back in its place. */
const cantOpen = 14;

class Writer {
  readonly database = new DatabaseSync(databaseOfWorker(), { timeout: busyTimeoutMs });
  readonly statements = new Statements(this.database);
  readonly #file = statSync(databaseOfWorker());
  #batches: BatchWriter | undefined;
  #swap: Swap | undefined;

  constructor() {
    this.database.exec(pragmas);
    addSumFunctions(this.database);
  }

  /** Made when first needed: its statements need the tables that migrations make. */
  get batches(): BatchWriter {
    this.#batches ??= new BatchWriter(this.database);
    return this.#batches;
  }

  get swap(): Swap {
    this.#swap ??= new Swap(this.database);
    return this.#swap;
  }

  /** No later start finds what is written into a file that was moved or deleted, so none of it may be acknowledged. */
  inPlace(): void {
    const { ino, dev } = statSync(databaseOfWorker(), { throwIfNoEntry: false }) ?? {};
    if (ino === this.#file.ino && dev === this.#file.dev) return;
    throw sqliteError(`${databaseOfWorker()} was moved or deleted under the running service`, cantOpen);
  }

  /**
   * Writes a row to the end of the tail and rolls it back. All devices share that end, so a damaged page there concerns each of them. The limit leaves out damaged rows, whose numbers
   * may be too large to be counted up. The row is so large that it needs a page of its own.
   */
  tryAppend(): void {
    this.database.exec("begin immediate");
    try {
      this.database.exec(
        "insert into tail (seq, device, first, last, count, data) select coalesce(max(seq), 0) + 1, 0, 0, 0, 0, zeroblob(8000) from tail where seq < 1 << 52",
      );
    } catch (error) {
      throw isDamage(error) ? tailEndDamaged(error) : error;
    } finally {
      if (this.database.isTransaction) this.database.exec("rollback");
    }
  }

  transaction(work: () => void): void {
    inTransaction(this.database, work);
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
      // Inside a transaction, the commit looks after the file.
      if (writer().database.isTransaction) return plain(writer().statements.run(request));
      writer().inPlace();
      const answer = writer().statements.run(request);
      writer().inPlace();
      return plain(answer);
    },
    together: (requests) => {
      const { statements } = writer();
      const changes: number[] = [];
      writer().inPlace();
      writer().transaction(() => {
        for (const request of requests) changes.push(statements.run(request).changes);
      });
      writer().inPlace();
      return plain(changes);
    },
    begin: () => {
      writer().database.exec("begin immediate");
      return plain(null);
    },
    commit: () => {
      writer().inPlace();
      writer().database.exec("commit");
      writer().inPlace();
      return plain(null);
    },
    rollback: () => {
      if (writer().database.isTransaction) writer().database.exec("rollback");
      return plain(null);
    },
    append: (request) => {
      // Checked before and after: otherwise a report in a file that was moved away would be found there at the next attempt, and be acknowledged as a repeat.
      writer().inPlace();
      const answer = writer().batches.write(request);
      writer().inPlace();
      return { answer, transfer: [request.buffer] };
    },
    swap: (request) => {
      const done = writer().swap.swap(request);
      writer().inPlace();
      return plain(done);
    },
    drop: (request) => {
      const done = writer().swap.drop(request);
      writer().inPlace();
      return plain(done);
    },
    trim: (request) => plain(writer().swap.trim(request)),
    forget: ({ device, seq }) => plain(writer().swap.forget(device, seq)),
    purge: (seqs) => {
      const { swap } = writer();
      writer().transaction(() => {
        for (const seq of seqs) swap.remove(seq);
      });
      return plain(null);
    },
    check: () => {
      writer().inPlace();
      const touch = writer().database.prepare(
        "insert into setting (name, value) values ('check', '0') on conflict (name) do update set value = value + 1",
      );
      writer().transaction(() => touch.run());
      writer().tryAppend();
      return plain(null);
    },
    tryAppend: () => {
      writer().tryAppend();
      return plain(null);
    },
    mendIndex: () => plain(mendPatchIndex(writer().database)),
    mark: () => {
      markOpen(writer().database);
      return plain(null);
    },
    unmark: () => {
      if (opened !== undefined) markClosed(opened.database);
      return plain(null);
    },
    close: () => {
      if (opened !== undefined) closeMarked(opened.database);
      return plain(null);
    },
  },
  failureOf,
);
