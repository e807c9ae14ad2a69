import type { ColumnDataType, ColumnDefinitionBuilder, Kysely, RawBuilder } from "kysely";
import type { Schema } from "../schema.ts";

/** What differs between the engines in the making of tables. */
export interface Engine {
  /** Type of 64-bit numbers. */
  readonly int: ColumnDataType;
  readonly double: ColumnDataType;
  readonly bytes: ColumnDataType;
  /** A new random UUID for each row: identifiers of rows that older versions made without one. */
  readonly uuid: RawBuilder<string>;
  /** A key that the engine gives, never given twice. */
  key(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder;
}

/** One step of the tables' history. */
export interface Migration {
  readonly name: string;
  up(database: Kysely<Schema>, engine: Engine): Promise<void>;
}
