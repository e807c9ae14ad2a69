import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely, RawBuilder, Selectable } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine } from "./migration.ts";

type Change = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

/** How a column is made. `V`: what it holds. */
export interface Column<V> {
  readonly type: "key" | "int" | "double" | "bytes" | "text";
  /** What is said of it beside its type. */
  readonly change: Change;
  /** Nothing has it: it ties the column to what the schema says. */
  readonly holds?: V;
}

type Kind<V> = V extends number ? number : V extends string ? string : V extends Uint8Array ? Uint8Array : V;

/** A column for each of a table of the schema, in their order in the database. */
export type Columns<T> = { readonly [C in keyof T]: Column<Kind<Selectable<T>[C & keyof Selectable<T>]>> };

/** A key that the engine gives. */
export const key: Column<number> = { type: "key", change: (column) => column };
export const int: Column<number> = { type: "int", change: (column) => column.notNull() };
export const double: Column<number> = { type: "double", change: (column) => column.notNull() };
export const text: Column<string> = { type: "text", change: (column) => column.notNull() };
export const bytes: Column<Uint8Array> = { type: "bytes", change: (column) => column.notNull() };
export const intOrNull: Column<number | null> = { type: "int", change: (column) => column };
export const doubleOrNull: Column<number | null> = { type: "double", change: (column) => column };
export const textOrNull: Column<string | null> = { type: "text", change: (column) => column };

/** A column of which more is said. */
export function also<V>({ type, change }: Column<V>, more: Change): Column<V> {
  return { type, change: (column) => more(change(column)) };
}

/** No two rows have the same. */
export function unique<V>(column: Column<V>): Column<V> {
  return also(column, (one) => one.unique());
}

/** The row's key. */
export function primary<V>(column: Column<V>): Column<V> {
  return also(column, (one) => one.primaryKey());
}

/** Rows that don't say have this. */
export function otherwise<V>(column: Column<V>, value: V): Column<V> {
  return also(column, (one) => one.defaultTo(value));
}

/** Makes a table. `primaryKey`: its columns, where there are several. */
export async function makeTable<T extends keyof Schema & string>(
  { schema }: Kysely<Schema>,
  engine: Engine,
  table: T,
  columns: Columns<Schema[T]>,
  primaryKey: readonly (keyof Schema[T] & string)[] = [],
): Promise<void> {
  let made: CreateTableBuilder<string, string> = schema.createTable(table);
  for (const [name, { type, change }] of Object.entries<Column<unknown>>(columns))
    made =
      type === "key"
        ? made.addColumn(name, engine.int, (column) => engine.key(change(column)))
        : made.addColumn(name, type === "text" ? type : engine[type], change);
  if (primaryKey.length > 0) made = made.addPrimaryKeyConstraint(`${table}_key`, [...primaryKey]);
  await made.execute();
}

/** Makes an index, which is named after its table. */
export async function makeIndex<T extends keyof Schema & string>(
  { schema }: Kysely<Schema>,
  table: T,
  name: string,
  columns: readonly (keyof Schema[T] & string)[],
  where?: RawBuilder<boolean>,
): Promise<void> {
  const names: readonly string[] = columns;
  const made = schema
    .createIndex(`${table}_${name}`)
    .on(table)
    .columns([...names]);
  await (where === undefined ? made : made.where(where)).execute();
}
