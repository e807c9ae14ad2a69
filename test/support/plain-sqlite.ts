import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import type { Schema } from "../../src/store/schema.ts";

function input(value: unknown): SQLInputValue {
  if (value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array)
    return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}

/** The row tables over one connection of this thread, for what a test does behind the store's back. `ran` is told each statement. */
export function plainSqlite(
  file: string,
  ran?: (sql: string) => void,
): { readonly file: DatabaseSync; readonly rows: Kysely<Schema> } {
  const database = new DatabaseSync(file);
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    ran?.(sql);
    return {
      reader: statement.columns().length > 0,
      all: (values: readonly unknown[]) => statement.all(...values.map(input)),
      run: (values: readonly unknown[]) => statement.run(...values.map(input)),
      iterate: (values: readonly unknown[]) => statement.iterate(...values.map(input)),
    };
  };
  const dialect = new SqliteDialect({ database: { prepare, close: () => database.close() } });
  return { file: database, rows: new Kysely<Schema>({ dialect }) };
}
