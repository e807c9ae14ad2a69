import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { sqliteError } from "./engine-errors.ts";
import { logHeaderBytes } from "./log-damage.ts";
import { replacePrivate, sync } from "./private-files.ts";

/*
 * SQLite says nothing of a log that is gone: it opens the database without what the log held. So the database says in its own header whether a log belongs
 * to it: `user_version` is odd while the service has it open, even after a clean end, and grows with each start. The file `waybeam.db-open` holds the
 * lowest and the highest number of the present log, which tell the log's database from an older copy.
 *
 * Nothing here opens the database's file itself once SQLite has it open. When a process closes any descriptor of a file, the system drops all its locks on that file
 * (https://www.sqlite.org/howtocorrupt.html, 2.2): another program that then opens and closes the database deletes the log under the service.
 */

/** Where the database's header holds `user_version`, and its change counter (https://www.sqlite.org/fileformat2.html, 1.3). */
const versionAt = 60;
const changesAt = 24;

/** SQLITE_FULL and SQLITE_CANTOPEN. */
const full = 13;
const cantOpen = 14;

/** What a database's header says of its log. */
export interface Mark {
  readonly number: number;
  /** The service did not end cleanly: what it wrote last is in the log. */
  readonly open: boolean;
  /** SQLite's own backup wrote it as a new file: whole, without a log, whatever the number says. */
  readonly copy: boolean;
}

/** Reads the mark of a header of 100 bytes. */
export function markOf(header: Buffer): Mark {
  const number = header.readUInt32BE(versionAt);
  return { number, open: number % 2 === 1, copy: header.readUInt32BE(changesAt) === 1 };
}

function markFile(database: string): string {
  return `${database}-open`;
}

/** The number by which a database with this one counts as closed. */
export function closedNumber(number: number): number {
  return number % 2 === 0 ? number : number + 1;
}

/** Whether a log that lies beside a database with this number is that database's. Where no file tells, the log is believed. */
export function logBelongs(database: string, number: number): boolean {
  const known = numbersOf(database);
  return known === undefined || (number >= known.low && number <= known.high);
}

/** The numbers that a database has had with one log. Each start and each end makes the next one. */
interface Numbers {
  readonly low: number;
  readonly high: number;
}

/** Returns undefined when no file tells. */
function numbersOf(database: string): Numbers | undefined {
  try {
    return spanOf(readFileSync(markFile(database), "latin1").match(/\d+/g)?.map(Number) ?? []);
  } catch {
    return undefined;
  }
}

function spanOf(numbers: readonly number[]): Numbers | undefined {
  return numbers.length === 0 ? undefined : { low: Math.min(...numbers), high: Math.max(...numbers) };
}

/** Forgets the numbers of a log that is gone, since another program moved it into the database: those of the next log may be others. */
export function forgetGoneLog(database: string): void {
  if (hasLog(database) || !existsSync(markFile(database))) return;
  rmSync(markFile(database));
  sync(dirname(database));
}

function hasLog(database: string): boolean {
  return (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) >= logHeaderBytes;
}

/**
 * Marks a copy that SQLite's own backup made as closed. The copy has the number of the open original: once the copy has a log, nothing would tell it from the original's.
 * This writes to the file itself, because SQLite would write the number into that log. Call it before SQLite opens the file.
 */
export function closeCopy(database: string, { number, open, copy }: Mark): void {
  if (!open || !copy) return;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(closedNumber(number));
  const descriptor = openSync(database, "r+");
  try {
    writeSync(descriptor, bytes, 0, bytes.length, versionAt);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Marks an open database, in its own file and beside it. */
export function markOpen(database: DatabaseSync): void {
  const file = fileOf(database);
  const before = numberOf(database);
  const number = (before + (before % 2 === 0 ? 1 : 2)) % 0x7fff_fffe;
  // While somebody reads the database, a backup say, the log can't be moved, and the file's header keeps an older number. Only the kept numbers tell which:
  // to look into the file would take away its locks (see above).
  const { low, high } = numbersOf(file) ?? { low: hasLog(file) ? 0 : before, high: before };
  // The last number is that of the close, when the disk may have no room to write it.
  const numbers = [low, high, before, number, number + 1];
  writeDurably(markFile(file), `${Math.min(...numbers)} ${Math.max(...numbers)}`);
  database.exec(`pragma user_version = ${number}`);
  const { busy, log, checkpointed } = database.prepare("pragma wal_checkpoint(passive)").get() ?? {};
  if (busy === 0 && log === checkpointed) writeDurably(markFile(file), `${number} ${number + 1}`);
}

/** Says that the log may be moved. `markOpen` wrote this number beside the database while there was room. */
export function markClosed(database: DatabaseSync): void {
  const number = numberOf(database);
  if (number % 2 === 1) database.exec(`pragma user_version = ${number + 1}`);
}

/** Closes a database. The last connection that closes moves the log into it. */
export function closeMarked(database: DatabaseSync): void {
  const file = fileOf(database);
  database.close();
  // The log stays where somebody else still reads the database.
  if (!existsSync(`${file}-wal`)) rmSync(markFile(file), { force: true });
}

/** Without links: where SQLite has the log. */
function fileOf(database: DatabaseSync): string {
  const file = database.location();
  if (file === null) throw new TypeError("a database in memory has no log");
  return file;
}

function numberOf(database: DatabaseSync): number {
  return Number(database.prepare("pragma user_version").get()?.user_version ?? 0);
}

/** Throws `EngineError`, so that the start reports a failure like one of the database. */
function writeDurably(file: string, text: string): void {
  try {
    replacePrivate(file, text);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const message = error instanceof Error ? error.message : String(error);
    throw sqliteError(message, code === "ENOSPC" || code === "EDQUOT" ? full : cantOpen);
  }
}
