import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqlAnswer, SqlRequest } from "./messages.ts";

/** Statements kept prepared; the row tables have some dozens, lists with many parameters make others. */
const keptStatements = 100;

/** Runs the statements of the row tables, each prepared once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run({ sql, parameters }: SqlRequest): SqlAnswer {
    const statement = this.#prepare(sql);
    if (statement.columns().length > 0) {
      const rows = statement.all(...parameters);
      return { rows, changes: rows.length };
    }
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    if (this.#prepared.size >= keptStatements) this.#prepared.clear();
    this.#prepared.set(sql, statement);
    return statement;
  }
}
