import { isUtf8 } from "node:buffer";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { isDamage } from "../backup/damage.ts";
import { addSpentFunction } from "../sqlite/spent-table.ts";
import { skipped } from "./damaged-rows.ts";
import {
  type Cell,
  type Column,
  type ColumnType,
  type Key,
  keyOf,
  keyText,
  type Page,
  pageBytes,
  pageRows,
  quoted,
  type ReadSide,
  type Row,
  sizeOf,
  type Table,
} from "./rows.ts";
import { movedTables, ownRows } from "./tables.ts";

const types: Readonly<Record<string, ColumnType>> = {
  INTEGER: "int",
  TEXT: "text",
  BLOB: "bytes",
  "DOUBLE PRECISION": "double",
};

/** The tables of a database and their columns. */
export function tablesOf(database: DatabaseSync): readonly Table[] {
  const info = database.prepare(
    `select name, upper(type) as type, "notnull" or pk as required from pragma_table_info(?)`,
  );
  return movedTables.map((table) => {
    const columns: Column[] = info.all(table.name).map(({ name, type, required }) => {
      const own = types[String(type)];
      if (own === undefined) throw new TypeError(`${table.name}.${name} is of the unknown type ${type}`);
      return { name: String(name), type: own, required: required !== 0 };
    });
    return { ...table, columns, keyAt: table.key.map((key) => columns.findIndex(({ name }) => name === key)) };
  });
}

interface Statements {
  readonly first: StatementSync;
  readonly next: StatementSync;
}

/** Reads the rows of an embedded store, and passes over those that can't be read. */
export class SqliteRows implements ReadSide {
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, Statements>();

  constructor(database: DatabaseSync) {
    this.database = database;
    addSpentFunction(database);
  }

  async page(table: Table, after: Key | undefined): Promise<Page> {
    const { first, next } = this.#of(table);
    const rows: Row[] = [];
    const told: string[] = [];
    let bytes = 0;
    let last: Key | undefined;
    try {
      const found = after === undefined ? first.iterate() : next.iterate(...after.map(input));
      for (const read of found) {
        const row = taken(table, read, told);
        last = keyOf(table, row ?? Object.values(read).map(cellOf));
        if (row === undefined) continue;
        rows.push(row);
        bytes += sizeOf(row);
        if (bytes >= pageBytes || rows.length >= pageRows) return { rows, bytes, next: last, told };
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      // A statement that failed fails once more when it is begun again.
      this.#statements.delete(table.name);
      // The next page begins with the damage.
      if (last === undefined) return this.#skip(table, after);
      return { rows, bytes, next: last, told };
    }
    return { rows, bytes, next: undefined, told };
  }

  async sequences(): Promise<ReadonlyMap<string, bigint>> {
    const statement = this.#prepare("select seq from sqlite_sequence where name = ?");
    const numbered = movedTables.filter(({ numbered: has }) => has);
    const given = (name: string) => {
      const seq = statement.get(name)?.seq;
      return typeof seq === "bigint" ? seq : 0n;
    };
    return new Map(numbered.map(({ name }) => [name, given(name)]));
  }

  #of(table: Table): Statements {
    const known = this.#statements.get(table.name);
    if (known !== undefined) return known;
    // Texts as bytes: what is no UTF-8 shows.
    const columns = table.columns.map(({ name, type }) =>
      type === "text" ? `cast(${quoted(name)} as blob)` : quoted(name),
    );
    const key = table.key.map(quoted).join(", ");
    const marks = table.keyAt.map((at) => (table.columns[at]?.type === "text" ? "cast(? as text)" : "?")).join(", ");
    // Rows of the tail that are in blocks by now are not there any more, for every other reader.
    const own = table.name === "tail" ? "not is_spent(device, seq)" : (ownRows[table.name] ?? "true");
    const select = `select ${columns.join(", ")} from ${quoted(table.name)} where ${own}`;
    const made = {
      first: this.#prepare(`${select} order by ${key}`),
      next: this.#prepare(`${select} and (${key}) > (${marks}) order by ${key}`),
    };
    this.#statements.set(table.name, made);
    return made;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #skip(table: Table, after: Key | undefined): Promise<Page> {
    const { next } = this.#of(table);
    return skipped(table, after, async (from) => {
      try {
        const row = next.get(from);
        return row && cellOf(Object.values(row)[table.keyAt[0] ?? 0]);
      } catch (error) {
        if (!isDamage(error)) throw error;
        return "damaged";
      }
    });
  }
}

/** A value as a parameter. */
export function input(cell: Cell): SQLInputValue {
  return cell;
}

function cellOf(value: unknown): Cell {
  if (typeof value === "bigint" || typeof value === "number" || value instanceof Uint8Array) return value;
  return typeof value === "string" ? Buffer.from(value) : null;
}

/** Converts a row to the form that both engines share. Returns undefined if a value does not have the type of its column, which only damage causes. */
function taken(table: Table, read: Readonly<Record<string, unknown>>, told: string[]): Row | undefined {
  const values = Object.values(read).map(cellOf);
  const where = `row ${keyText(keyOf(table, values))} of the table ${table.name}`;
  const row: Cell[] = [];
  for (const [at, { name, type, required }] of table.columns.entries()) {
    const value = values[at] ?? null;
    if (value === null ? required : !fits(value, type)) {
      told.push(`${where} is left out: its ${name} is no ${type}`);
      return undefined;
    }
    if (type === "text" && value instanceof Uint8Array && !isUtf8(value)) {
      told.push(`${where}: its ${name} is damaged, and characters of it are replaced`);
      row.push(Buffer.from(Buffer.from(value).toString()));
    } else row.push(value);
  }
  return row;
}

function fits(value: bigint | number | Uint8Array, type: ColumnType): boolean {
  if (type === "int") return typeof value === "bigint";
  if (type === "double") return typeof value === "number";
  return value instanceof Uint8Array;
}
