import type { ColumnDataType, ColumnDefinitionBuilder, Kysely } from "kysely";
import type { Schema } from "../schema.ts";

/** What differs between the engines in the making of tables. */
export interface Engine {
  /** Type of 64-bit numbers. */
  readonly int: ColumnDataType;
  readonly double: ColumnDataType;
  readonly bytes: ColumnDataType;
  /** A key that the engine gives, never given twice. */
  key(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder;
  /** The statements that create a trigger. */
  trigger(trigger: Trigger): readonly string[];
  /**
   * Creates the SQL functions that statements of migrations and stores call and the engine lacks. Runs before any
   * migration.
   */
  prepare(database: Kysely<Schema>): Promise<void>;
}

/** Steps that are done after each row that a statement writes, in the same transaction. `new` and `old` are the row. */
export interface Trigger {
  readonly name: string;
  readonly table: string;
  /** `insert`, `delete`, or `update of` some columns. */
  readonly after: string;
  readonly steps: readonly (string | Refusal)[];
}

/** A step that makes the statement fail with the message `refuse` if the condition `when` is true. */
export interface Refusal {
  readonly refuse: string;
  readonly when: string;
}

/** One step of the tables' history. */
export interface Migration {
  readonly name: string;
  up(database: Kysely<Schema>, engine: Engine): Promise<void>;
}
