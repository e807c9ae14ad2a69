import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/*
 * SQLite says nothing of a log that is gone: it opens the database without what the log held. So the database says in its own header whether a log belongs
 * to it: `user_version` is odd while the service has it open, even after a clean end, and grows with each start. The file `waybeam.db-open` holds the
 * numbers of the present log, which tell the log's database from an older copy.
 */

/** Where the database's header holds `user_version`, and its change counter (https://www.sqlite.org/fileformat2.html, 1.3). */
const versionAt = 60;
const changesAt = 24;

/** Numbers that are kept of one log: a start and an end of the service make two. */
const mostNumbers = 300;

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

/** Whether a log that lies beside a database with this number is that database's. Where no file tells, the log is believed. */
export function logBelongs(database: string, number: number): boolean {
  const numbers = numbersIn(markFile(database));
  return numbers?.includes(number) ?? true;
}

/** Undefined: there is no such file. */
function numbersIn(file: string): readonly number[] | undefined {
  try {
    return readFileSync(file, "latin1")
      .split(/\s+/)
      .filter((text) => /^\d+$/.test(text))
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Adds numbers to those of the present log. As long as somebody reads the database, a backup say, the log can't be moved, and the file's header has an older number. */
function addNumbers(file: string, ...numbers: readonly number[]): void {
  const known = numbersIn(markFile(file)) ?? [];
  writeDurably(markFile(file), [...new Set([...known, ...numbers])].slice(-mostNumbers).join(" "));
}

/** Marks an open database, in its own file and beside it. */
export function markOpen(database: DatabaseSync): void {
  const file = fileOf(database);
  const before = numberOf(database);
  const number = (before + (before % 2 === 0 ? 1 : 2)) % 0x7fff_ffff;
  // The older number too: until the log is moved the header of the database's file has it. And the one of the close, for which the disk may have no room then.
  addNumbers(file, before, number, number + 1);
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

/** A file that is whole and on disk when this returns, or as it was. */
function writeDurably(file: string, text: string): void {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
