import { DatabaseSync } from "node:sqlite";
import { databaseOf, positionsOf } from "../sqlite/folder.ts";
import type { Databases } from "./inspection.ts";

/** The service writes at the same time: a reader waits for its locks, ms. */
const busyTimeoutMs = 10_000;

/** The files of a folder's databases. */
export function filesOf(directory: string): Readonly<Record<keyof Databases, string>> {
  return { rows: databaseOf(directory), positions: positionsOf(directory) };
}

/** Opens the databases of a folder, each at one moment, and closes them afterwards. Nothing of them is changed. */
export async function withDatabases<T>(directory: string, work: (databases: Databases) => Promise<T>): Promise<T> {
  const files = filesOf(directory);
  const rows = openToRead(files.rows);
  try {
    const positions = openToRead(files.positions);
    try {
      // The rows first: whoever follows in a copy is behind its positions, never ahead of them.
      for (const database of [rows, positions]) database.exec("begin; select count(*) from sqlite_master");
      return await work({ rows, positions });
    } finally {
      positions.close();
    }
  } finally {
    rows.close();
  }
}

/** A connection that only reads. */
export function openToRead(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
}
