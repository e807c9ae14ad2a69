import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import type { Schema } from "../../src/store/schema.ts";
import { LocklessCompiler } from "../../src/store/sqlite/compiler.ts";

function input(value: unknown): SQLInputValue {
  if (value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array)
    return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}

class LocklessDialect extends SqliteDialect {
  override createQueryCompiler(): LocklessCompiler {
    return new LocklessCompiler();
  }
}

/**
 * The row tables over one connection of this thread, for what a test does behind the store's back. `ran` is told each
 * statement.
 */
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
  const dialect = new LocklessDialect({ database: { prepare, close: () => database.close() } });
  return { file: database, rows: new Kysely<Schema>({ dialect }) };
}

/**
 * Those of the statements that look at whole tables or sort what they find, with the engine's plans. A partial index
 * holds the few rows that it is for, `json_each` the values of one column, and `before` what a question of its own
 * found by an index.
 */
export function withoutIndex(file: DatabaseSync, statements: Iterable<string>): readonly string[] {
  const partial = file
    .prepare("select i.name from sqlite_master t join pragma_index_list(t.name) i on i.partial where t.type = 'table'")
    .all()
    .map(({ name }) => `INDEX ${name}`);
  const isBad = (step: string) =>
    /^SCAN(?! json_each| \d+-ROW VALUES| before$)|TEMP B-TREE/.test(step) &&
    !partial.some((index) => step.endsWith(index));
  const bad: string[] = [];
  for (const sql of statements) {
    if (!/^(select|update|insert|delete)/.test(sql)) continue;
    const plan = file
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    if (plan.some(isBad)) bad.push(`${sql}: ${plan.join("; ")}`);
  }
  return bad;
}
