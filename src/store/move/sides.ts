import type { DatabaseSync } from "node:sqlite";
import type { Journal, Origin } from "./journal.ts";
import type { Key, ReadSide, Row, Table } from "./rows.ts";

/** What is common to both ends of a move. */
export interface Side extends ReadSide {
  /** For people: a folder, or where a database is. */
  readonly shown: string;
  /** The tables of the embedded store at this end. Undefined where this is the PostgreSQL database. */
  readonly database: DatabaseSync | undefined;
  /** Lets others use the store. */
  close(): Promise<void>;
}

/** The store that is copied. Nothing of it is changed. */
export interface SourceSide extends Side {
  origin(): Promise<Origin>;
  /** About how many bytes a reader of the whole store reads. */
  bytes(): Promise<number>;
  /** What the keys are called that its secrets are sealed by. */
  keyIds(): Promise<readonly string[]>;
  /** What is wrong with its files, though a service would use them. */
  readonly told: readonly string[];
}

/** The store that is filled. */
export interface TargetSide extends Side {
  /** What is known of a move into it that was begun and has not ended. */
  readonly journal: Journal | undefined;
  /** Deletes what such a move copied. */
  clear(): Promise<void>;
  /** Makes it a store that no service opens, before anything is copied. */
  begin(origin: Origin): Promise<void>;
  /** Writes rows, and that all up to a key of the table is copied; undefined: none of it yet. */
  put(table: Table, rows: readonly Row[], after: Key | undefined): Promise<void>;
  /** Does what is to be done once all rows are there: new ones get numbers behind these. */
  settle(sequences: ReadonlyMap<string, bigint>): Promise<void>;
  /** Makes it a store that a service opens. */
  finish(): Promise<void>;
}
