import { quotaNames } from "../../model/quotas.ts";
import { QuotaReached, type StoreTrouble, StoreUnavailable } from "../../ports/store.ts";
import { isOutOfMemory } from "../records/damage.ts";
import type { CallFailure } from "./messages.ts";

/** SQLITE_CORRUPT: a page of the database can't be read. The store gives damaged chunks the same code. */
export const corrupt = 11;

/** SQLITE_NOMEM: memory ran out. */
const noMemory = 7;

/** A failure inside SQLite as it crosses from a worker. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** SQLite's extended result code. Undefined when the failure is not the engine's. */
  readonly code: number | undefined;

  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }
}

/**
 * SQLite's primary result codes that mean that the database can't be used at present, however right the statement was
 * (https://www.sqlite.org/rescode.html), and what stands behind each. A damaged file is one too: no data may be acknowledged into it.
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

/** Returns what stands behind a result code, or undefined when the database can be used or the failure is not the engine's. */
export function troubleOf(code: number | undefined): StoreTrouble | undefined {
  return code === undefined ? undefined : troubles.get(code & 0xff);
}

/** The error that a caller of the store sees. */
export function storeError(message: string, code: number | undefined): Error {
  const cause = new EngineError(message, code);
  const trouble = troubleOf(code);
  if (trouble !== undefined) return new StoreUnavailable(`store unavailable: ${message}`, { cause }, trouble);
  // What a trigger of the quotas says.
  const quota = quotaNames.find((name) => message === `quota ${name}`);
  return quota === undefined ? cause : new QuotaReached(quota);
}

/** Whether the store as a whole can't be used at present: whatever else is asked of it fails, too. */
export function isDown(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.trouble === "down";
}

/** What to send across about a failure. */
export function failureOf(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  if (error instanceof EngineError) return { message: error.message, code: error.code };
  if (isOutOfMemory(error)) return { message: error.message, code: noMemory };
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
  // Failures of the engine say all there is in a line; any other one is a fault of ours, and its stack tells where.
  return { message: code === undefined ? (error.stack ?? error.message) : error.message, code };
}
