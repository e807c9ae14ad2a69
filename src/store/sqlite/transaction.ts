import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in a transaction. What it did is kept unless it fails. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("begin immediate");
  try {
    const result = work();
    database.exec("commit");
    return result;
  } catch (error) {
    // SQLite ends the transaction itself after some errors, such as a full disk.
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}
