import { StoreUnavailable } from "../../ports/store.ts";

/** A failure inside SQLite as it crosses from a worker. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** SQLite's extended result code; undefined where the failure is not the engine's. */
  readonly code: number | undefined;

  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }
}

/**
 * SQLite's primary result codes that mean that the database can't be used at present, however right the statement was
 * (https://www.sqlite.org/rescode.html). A damaged file is one too: no data may be acknowledged into it.
 */
const unavailableCodes: ReadonlySet<number> = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  9, // INTERRUPT
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
  22, // NOLFS
  26, // NOTADB
]);

/** The error that a caller of the store sees. */
export function storeError(message: string, code: number | undefined): Error {
  const cause = new EngineError(message, code);
  if (code !== undefined && unavailableCodes.has(code & 0xff))
    return new StoreUnavailable(`store unavailable: ${message}`, { cause });
  return cause;
}

/** What to send across about a failure. */
export function failureOf(error: unknown): { message: string; code: number | undefined } {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  if (error instanceof EngineError) return { message: error.message, code: error.code };
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
  // Failures of the engine say all there is in a line; any other one is a fault of ours, and its stack tells where.
  return { message: code === undefined ? (error.stack ?? error.message) : error.message, code };
}
