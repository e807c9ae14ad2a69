import type { Call } from "./workers/calls.ts";

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

/** What the worker that writes does. */
export interface SqliteWriterCalls {
  readonly sql: Call<SqlRequest, SqlAnswer>;
  /** Runs statements in one transaction; how many rows each changed. */
  readonly together: Call<readonly SqlRequest[], readonly number[]>;
  readonly begin: Call<null, void>;
  readonly commit: Call<null, void>;
  /** Ends a transaction if one is open: the engine may have ended it itself. */
  readonly rollback: Call<null, void>;
  /** Writes a row. */
  readonly check: Call<null, void>;
  readonly close: Call<null, void>;
}

/** What the worker that reads does. */
export interface SqliteReaderCalls {
  readonly sql: Call<SqlRequest, SqlAnswer>;
  readonly check: Call<null, void>;
  readonly close: Call<null, void>;
}
