import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openUnchanged } from "./before-opening.ts";
import { DataFolderUnusable, databaseOf, lost, positionsOf } from "./folder.ts";

/*
 * Both databases of a folder hold its number, in the place that SQLite has for applications (`application_id`). So no
 * other folder's positions are taken for this one's, and no file that was emptied for a new one. A copy by VACUUM INTO
 * keeps it.
 */

/** The number of an open database's folder; 0: it has none. */
export function folderNumber(database: DatabaseSync): number {
  return Number(database.prepare("pragma application_id").get()?.application_id ?? 0);
}

/** Throws `DataFolderUnusable` where the two databases are not of one folder. */
export function checkPair(directory: string): void {
  const [rows, positions] = [databaseOf(directory), positionsOf(directory)].map(numberIn);
  // Both are new, or a first start was cut short: it numbers them before it makes a table.
  if (rows === undefined && positions === undefined) return;
  if (rows === positions) return;
  throw new DataFolderUnusable(directory, "positions.db is not the one that belongs to waybeam.db", lost, undefined);
}

/** Numbers the databases of a new folder. */
export function makePair(directory: string): void {
  const files = [databaseOf(directory), positionsOf(directory)];
  if (files.some((file) => numberIn(file) !== undefined)) return;
  let number: unknown;
  for (const file of files) {
    const database = new DatabaseSync(file);
    try {
      number ??= database.prepare("select 1 + abs(random() % 2147483646) as number").get()?.number;
      database.exec(`pragma application_id = ${number}`);
    } finally {
      database.close();
    }
  }
}

/** Undefined: the database has no tables. */
function numberIn(file: string): number | undefined {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return undefined;
  const database = openUnchanged(file);
  try {
    const isMade = database.prepare("select 1 from sqlite_master limit 1").get() !== undefined;
    return isMade ? folderNumber(database) : undefined;
  } finally {
    database.close();
  }
}
