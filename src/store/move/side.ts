import type { PositionStore } from "../../ports/positions.ts";
import type { MovedTable } from "./tables.ts";

/** A value of a row, the same in both engines. */
export type Cell = null | number | string | Uint8Array;

/** A row: values by the names of columns. */
export type Row = Readonly<Record<string, Cell>>;

/** One end of a move. */
export interface Side {
  /** For people: a folder, or where a database is. */
  readonly shown: string;
  readonly positions: PositionStore;
  /** Rows of a table behind a key, in the order of their keys, at most `limit`. */
  page(table: MovedTable, after: Row | undefined, limit: number): Promise<readonly Row[]>;
  count(table: MovedTable): Promise<number>;
  /** Runs work in one transaction. */
  together(work: () => Promise<void>): Promise<void>;
  /** Deletes all rows of a table: those that triggers made. */
  clear(table: MovedTable): Promise<void>;
  put(table: MovedTable, rows: readonly Row[]): Promise<void>;
  /** The highest number that a table with numbers has given. */
  highest(table: MovedTable): Promise<number>;
  /** New rows of a table get numbers behind this one. */
  goOnBehind(table: MovedTable, highest: number): Promise<void>;
  /** What the keys are called that its secrets are sealed by. */
  keyIds(): Promise<readonly string[]>;
  /** Lets others use the store. `isWhole`: a service, too. */
  close(isWhole: boolean): Promise<void>;
}

/** A name in a statement. */
export function quoted(name: string): string {
  return `"${name}"`;
}
