import type { DatabaseSync, StatementSync } from "node:sqlite";
import { mostSeq } from "../locations/sizes.ts";
import { isDamage } from "./engine-errors.ts";

/** So many row numbers behind an unreadable one are tried one by one: more than a page has. */
const nearby = 4096;

/** The values of a row's columns. */
type Row = readonly unknown[];

/** A range of unreadable rows, by their numbers. `to` is undefined if nothing after them can be read. */
export interface LostRows {
  readonly from: number;
  readonly to: number | undefined;
}

/** What is to be read of a table. */
export interface Columns {
  readonly table: string;
  /** The first one is the row's number, as a double. */
  readonly columns: string;
  /** Columns to read instead when a row can't be read in full. */
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

  /** Whether the last read met something unreadable near its rows. */
  get near(): boolean {
    return this.#near;
  }

  /** Reads up to `most` rows from a row number on, or tells which can't be read. An empty list: there are no more. */
  read(from: number, most: number): readonly Row[] | LostRows {
    const wasNear = this.#near;
    let limit = most;
    let rows = this.#try(this.#some, from, limit);
    for (; rows === undefined && limit > 1; rows = this.#try(this.#some, from, limit)) limit = Math.floor(limit / 2);
    this.#near = limit < most;
    rows ??= this.#try(this.#fewer, from, 1);
    if (rows === undefined) return { from, to: this.#endOfLost(from) };
    const found = Number(rows[0]?.[0] ?? from);
    // The search for these rows may have gone through the damaged page and missed rows before them.
    return wasNear && found > from ? { from, to: found - 1 } : rows;
  }

  /** Yields every row, and each range of unreadable rows between them. */
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
      // A damaged row may have any number, also one that was passed already.
      from = Math.max(from, Number(some.at(-1)?.[0])) + 1;
    }
  }

  /** The last unreadable row number. Looks at each number nearby, so that no readable page between two unreadable ones is passed over, then doubles the step, and bisects the last one. */
  #endOfLost(from: number): number | undefined {
    let bad = from;
    let good = from + 1;
    for (; !this.#canRead(good); good += bad - from < nearby ? 1 : bad - from) {
      bad = good;
      if (bad > mostSeq) return undefined;
    }
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
