import type { Call, PackerCalls, ReaderCalls, WriterCalls } from "../locations/calls.ts";
import type { MendedIndex } from "./patch-index.ts";

/** A value that a statement takes or gives. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** One statement of the row tables. */
export interface SqlRequest {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** What a statement gave: its rows, and how many it changed. */
export interface SqlAnswer {
  readonly rows: readonly Record<string, SqlValue>[];
  readonly changes: number;
}

/** What every worker of this engine does. */
interface WorkerCalls {
  readonly close: Call<null, null>;
}

/** What the worker that writes does. */
export interface SqliteWriterCalls extends WriterCalls, WorkerCalls {
  readonly sql: Call<SqlRequest, SqlAnswer>;
  /** Runs statements in one transaction; how many rows each changed. */
  readonly together: Call<readonly SqlRequest[], readonly number[]>;
  readonly begin: Call<null, null>;
  readonly commit: Call<null, null>;
  /** Ends a transaction if one is open: the engine may have ended it itself. */
  readonly rollback: Call<null, null>;
  /** Looks whether positions can be stored. Writes nothing. */
  readonly tryAppend: Call<null, null>;
  /** Rebuilds the index of patches if it is damaged: see `patch-index.ts`. */
  readonly mendIndex: Call<null, MendedIndex>;
  /** Notes that the log belongs to the database from now on: see `open-mark.ts`. */
  readonly mark: Call<null, null>;
  /** Says in the database that its log may be moved: the service is closing. */
  readonly unmark: Call<null, null>;
}

/** What a worker that reads does. */
export interface SqliteReaderCalls extends ReaderCalls, WorkerCalls {
  /** What is wrong with the pages of a table: see `verify.ts`. */
  readonly verify: Call<string, readonly string[]>;
  readonly sql: Call<SqlRequest, SqlAnswer>;
}

/** What the worker that packs does. */
export interface SqlitePackerCalls extends PackerCalls, WorkerCalls {}
