import type { DatabaseSync, StatementSync } from "node:sqlite";
import { mostSeq } from "../locations/sizes.ts";
import { isDamage } from "./engine-errors.ts";

/** A row of as many columns as were asked for. */
type Row = readonly unknown[];

/** Rows that can't be read, by their numbers. `to`: undefined where nothing behind them can be read. */
export interface LostRows {
  readonly from: number;
  readonly to: number | undefined;
}

/** What is to be read of a table. */
export interface Columns {
  readonly table: string;
  /** The first one is the row's number, as a double. */
  readonly columns: string;
  /** What is read in their place where a part of the row can't be read. */
  readonly fewer?: string;
}

/** Reads a table in the order of its row numbers, and goes around pages that can't be read. */
export class RowsAround {
  readonly #some: StatementSync;
  readonly #fewer: StatementSync;
  #near = false;

  constructor(database: DatabaseSync, { table, columns, fewer = columns }: Columns) {
    const chosen = `from ${table} where ${table}.rowid >= ? order by ${table}.rowid limit ?`;
    this.#some = database.prepare(`select ${columns} ${chosen}`, { returnArrays: true });
    this.#fewer = database.prepare(`select ${fewer} ${chosen}`, { returnArrays: true });
  }

  /** Whether something near the rows that were last read can't be read. */
  get near(): boolean {
    return this.#near;
  }

  /** Rows from a number on: some of them, or what can't be read. None: there are no more. */
  read(from: number, most: number): readonly Row[] | LostRows {
    const wasNear = this.#near;
    let limit = most;
    let rows = this.#try(this.#some, from, limit);
    for (; rows === undefined && limit > 1; rows = this.#try(this.#some, from, limit)) limit = Math.floor(limit / 2);
    this.#near = limit < most;
    rows ??= this.#try(this.#fewer, from, 1);
    if (rows === undefined) return { from, to: this.#endOfLost(from) };
    const found = Number(rows[0]?.[0] ?? from);
    // The way to these rows may lead over the damaged page, and have passed by rows.
    return wasNear && found > from ? { from, to: found - 1 } : rows;
  }

  /** Every row, one by one, and what can't be read between them. */
  *all(most: number): Generator<Row | LostRows> {
    for (let from = 0; from < Number.MAX_SAFE_INTEGER; ) {
      const some = this.read(from, most);
      if ("from" in some) {
        yield some;
        from = (some.to ?? Number.MAX_SAFE_INTEGER) + 1;
        continue;
      }
      yield* some;
      if (some.length === 0) return;
      // The number of a damaged row may be any.
      from = Math.max(from, Number(some.at(-1)?.[0])) + 1;
    }
  }

  /** The last of the row numbers that can't be read: the step is doubled until something can be read, then halved. */
  #endOfLost(from: number): number | undefined {
    let bad = from;
    let step = 1;
    for (; !this.#canRead(from + step); step *= 2) {
      bad = from + step;
      if (bad > mostSeq) return undefined;
    }
    let good = from + step;
    while (good - bad > 1) {
      const middle = Math.floor((bad + good) / 2);
      if (this.#canRead(middle)) good = middle;
      else bad = middle;
    }
    return bad;
  }

  #canRead(from: number): boolean {
    return this.#try(this.#fewer, from, 1) !== undefined;
  }

  #try(statement: StatementSync, from: number, limit: number): Row[] | undefined {
    try {
      const rows: unknown[] = statement.all(from, limit);
      return rows.filter((row) => Array.isArray(row));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }
}
