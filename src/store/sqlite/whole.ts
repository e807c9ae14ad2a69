import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openUnchanged } from "./before-opening.ts";
import { DataFolderUnusable, databaseOf, dataFolderAdvice } from "./folder.ts";
import { contentOfLog, logHeaderBytes } from "./log-damage.ts";
import { closedNumber, logBelongs, type Mark, markOf } from "./open-mark.ts";

/** First bytes of an SQLite database (https://www.sqlite.org/fileformat2.html, 1.3), and of a log in either byte order (4.1). */
const databaseMagic = "SQLite format 3\0";
const logMagics: readonly number[] = [0x377f0682, 0x377f0683];

const lost =
  "Put it back from where the folder was copied or from a backup. To begin anew instead, move the other files away, or choose another folder by WAYBEAM_DATA.";
const mixed =
  "Put back the two files that belong together, or a backup of the folder; a database that SQLite's .backup made has no log, so move waybeam.db-wal away then.";

const logGone = (number: number) =>
  `Put waybeam.db-wal back from where the database was copied, or restore a backup. Where another program opened the database since and moved the log into it, nothing is missing: then run sqlite3 waybeam.db 'pragma user_version = ${closedNumber(number)}' and start again.`;
const foreign = "Move it away, or choose another folder by WAYBEAM_DATA. Nothing was changed.";

const damaged = (number: number) =>
  `Restore a backup of the folder. To go on without what is behind the damage, copy the folder, run sqlite3 waybeam.db 'pragma user_version = ${closedNumber(number)}' in it, and start again.`;

const shortened =
  "Put the whole waybeam.db back from where it was copied, beside the present waybeam.db-wal, or restore a backup of the folder. Nothing was changed.";

/** The page at 1 GiB, which SQLite never writes (https://www.sqlite.org/fileformat2.html, 1.4). */
function unusedPage(pageSize: number): number {
  return 0x4000_0000 / pageSize + 1;
}

/** The table that each version of the service makes first. */
const ownTable = "migration";

/** The warning about a log whose end can't be read. */
export const cutShort =
  "the end of waybeam.db-wal can't be read, and what it held is lost: a crash cut the last commit short, so that nobody was told that it is stored, or it is damaged";

/** What is known of a folder's files. */
interface Whole extends Mark {
  /** See `cutShort`. */
  readonly isCutShort?: boolean;
}

/**
 * Checks that the files of a data folder belong together, before anything is opened or created. Without a word, SQLite ignores that a log is missing, creates a new database beside
 * an old log, and drops a log of another database. Returns the database's mark and the state of its log, or undefined when there is no database. Throws `DataFolderUnusable`.
 */
export function checkWhole(directory: string): Whole | undefined {
  const file = databaseOf(directory);
  const logFile = `${file}-wal`;
  const size = sizeOf(file) ?? 0;
  const log = sizeOf(logFile) ?? 0;
  const refuse = (why: string, advice: string) => {
    throw new DataFolderUnusable(directory, why, advice, undefined);
  };
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) refuse("waybeam.db is not a file", dataFolderAdvice);
  if (size === 0) {
    const state = sizeOf(file) === undefined ? "waybeam.db is missing" : "waybeam.db is empty";
    if (sizeOf(join(directory, "tables.db")) !== undefined)
      refuse(
        "it is a backup",
        "Name another folder by WAYBEAM_DATA, and put the backup there: `waybeam restore BACKUP`.",
      );
    if (log > 0) refuse(`${state}, though its log waybeam.db-wal is there`, lost);
    if (sizeOf(join(directory, "credentials.json")) !== undefined)
      refuse(`${state}, though credentials.json of a service is there`, lost);
    return undefined;
  }
  const head = firstBytes(file, 100);
  // The engine refuses what is no database, and tells more.
  if (head.length < 100 || head.toString("latin1", 0, 16) !== databaseMagic) return undefined;
  const mark = markOf(head);
  if (log < logHeaderBytes) {
    if (mark.open && !mark.copy)
      refuse(
        "waybeam.db-wal is missing, and the service did not end cleanly: what it stored last was in there",
        logGone(mark.number),
      );
    const tables = tablesOf(file);
    if (tables?.length === 0 && sizeOf(join(directory, "credentials.json")) !== undefined)
      refuse("waybeam.db is empty, though credentials.json of a service is there", lost);
    if (tables !== undefined && tables.length > 0 && !tables.includes(ownTable))
      refuse("waybeam.db is another program's database", foreign);
    return mark;
  }
  if ((mark.open && mark.copy) || !logBelongs(file, mark.number))
    refuse("waybeam.db-wal is the log of another state of the database than waybeam.db", mixed);
  const logHead = firstBytes(logFile, logHeaderBytes);
  if (!logMagics.includes(logHead.readUInt32BE(0)))
    refuse("waybeam.db-wal is no log of SQLite, so what it held is lost", mixed);
  // 1 stands for 65,536, which 16 bits can't hold.
  const pageSize = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
  if (logHead.readUInt32BE(8) !== pageSize)
    refuse("waybeam.db-wal is the log of another database than waybeam.db: their pages differ in size", mixed);
  const { state, pages, logged } = contentOfLog(logFile, pageSize);
  if (state === "damaged")
    refuse("waybeam.db-wal is damaged, and SQLite would drop what was stored behind the damage", damaged(mark.number));
  for (let page = Math.floor(size / pageSize) + 1; page <= pages; page++)
    if (!logged.has(page) && page !== unusedPage(pageSize)) refuse("waybeam.db is cut short", shortened);
  return { ...mark, isCutShort: state === "cut short" };
}

/** Tables of a database that has no log. Undefined if they can't be read, of which the engine tells more. */
function tablesOf(file: string): string[] | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = openUnchanged(file);
    const rows = database.prepare("select name from sqlite_master where type = 'table'").all();
    return rows.map(({ name }) => String(name));
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function firstBytes(file: string, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  const descriptor = openSync(file, "r");
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}
