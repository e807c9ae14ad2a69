import { DatabaseSync } from "node:sqlite";

/** Another program on the database (a backup) makes a commit wait this long at most, ms; who asked tries again. */
const writerTimeoutMs = 100;
/** And a question. */
const readerTimeoutMs = 1000;

/*
 * Everything is durable when a commit returns: it waits for the disk (synchronous=FULL).
 * - wal_autocheckpoint: pages that SQLite's own log gathers before they are moved, 4 MB; pages that many commits
 *   rewrite are moved once.
 * - journal_size_limit: what a long reader made that log grow by is given back.
 */
const pragmas = `
  pragma page_size = 4096;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma wal_autocheckpoint = 1000;
  pragma journal_size_limit = 67108864;
`;

/** The connection of the one thread that writes. */
export function writingConnection(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: writerTimeoutMs });
  database.exec(pragmas);
  return database;
}

/** The connection of a thread that reads. */
export function readingConnection(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: readerTimeoutMs });
}
