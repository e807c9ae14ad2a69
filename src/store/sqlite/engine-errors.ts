import type { StoreTrouble } from "../../ports/store.ts";
import { type CallFailure, EngineError } from "../failures.ts";
import { isOutOfMemory, recordsDamage } from "../positions/damage.ts";

/** SQLITE_CORRUPT: a page of the database can't be read. */
const corrupt = 11;

/** SQLITE_NOMEM: memory ran out. */
const noMemory = 7;

/**
 * SQLite's primary result codes (https://www.sqlite.org/rescode.html) that tell of the database's condition and not of
 * a wrong statement. A damaged file is among them: nothing may be acknowledged into it.
 */
const troubles: ReadonlyMap<number, StoreTrouble> = new Map([
  [3, "down"], // PERM
  [5, "down"], // BUSY
  [6, "down"], // LOCKED
  [noMemory, "exhausted"],
  [8, "down"], // READONLY
  [9, "down"], // INTERRUPT
  [10, "damaged"], // IOERR
  [corrupt, "damaged"],
  [13, "down"], // FULL
  [14, "down"], // CANTOPEN
  [15, "down"], // PROTOCOL
  [22, "down"], // NOLFS
  [26, "damaged"], // NOTADB
]);

/**
 * What a result code says of the database. Undefined when the database can be used or the failure is not the engine's.
 */
export function troubleOf(code: number | undefined): StoreTrouble | undefined {
  return code === undefined ? undefined : troubles.get(code & 0xff);
}

/** A failure of SQLite. `code`: its extended result code. */
export function sqliteError(message: string, code: number): EngineError {
  return new EngineError({ message, trouble: troubleOf(code), code });
}

/** What a thread tells the main thread about a failure. */
export function failureOf(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { message: String(error), trouble: undefined, code: undefined };
  const { message } = error;
  if (error instanceof EngineError) return { message, trouble: error.trouble, code: error.code };
  if (isOutOfMemory(error)) return { message, trouble: troubleOf(noMemory), code: noMemory };
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
  // A failure of the engine says everything in a line. Any other is a bug of ours: the stack tells where.
  return { message: code === undefined ? (error.stack ?? message) : message, trouble: troubleOf(code), code };
}

/** What is wrong with stored bytes, or with their page. Undefined when the error has another cause. */
export function damageOf(error: unknown): string | undefined {
  const isPage = error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === corrupt;
  return isPage ? "a page can't be read" : recordsDamage(error);
}

/** Whether reading failed because something is damaged, or because a part of the disk can't be read. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Error && (failureOf(error).trouble === "damaged" || damageOf(error) !== undefined);
}
