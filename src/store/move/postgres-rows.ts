import { isDamage } from "../postgres/thread-errors.ts";
import type { Statement, Step } from "../postgres/wire/messages.ts";
import { type Session, step } from "../postgres/wire/session.ts";
import { int } from "../postgres/wire/values.ts";
import { skipped } from "./damaged-rows.ts";
import { nextCell, parameter, typeName } from "./postgres-values.ts";
import {
  type Cell,
  type Key,
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

/** Statements that read a table. Those with `After` begin behind a key. */
interface Statements {
  /** Keys, and how many bytes their rows have: so that no answer is larger than a page. */
  readonly sizes: Statement;
  readonly sizesAfter: Statement;
  /** Rows up to a key. */
  readonly rows: Statement;
  readonly rowsAfter: Statement;
}

/** Rows whose sizes are asked for at least. */
const fewRows = 64;

/** Where a page may end. */
interface Place {
  readonly key: Key;
  readonly bytes: number;
}

/** Reads the rows of a PostgreSQL database, and passes over those that can't be read. */
export class PostgresRows implements ReadSide {
  readonly session: Session;
  readonly #statements = new Map<string, Statements>();
  /** Rows of a table whose sizes are asked for: a page has about as many as the one before. */
  readonly #asked = new Map<string, number>();

  constructor(session: Session) {
    this.session = session;
  }

  async page(table: Table, after: Key | undefined): Promise<Page> {
    const places = await this.#readable(table, after);
    if (places === undefined) return this.#skip(table, after);
    const [first] = places;
    if (first === undefined) return { ...nothing, next: undefined, told: [] };
    let count = 0;
    for (let bytes = 0; count < places.length && (count === 0 || bytes < pageBytes); count++)
      bytes += places[count]?.bytes ?? 0;
    const end = places[count - 1] ?? first;
    this.#asked.set(table.name, Math.min(pageRows, Math.max(fewRows, 2 * count)));
    try {
      return await this.#rows(table, after, end.key);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    try {
      return await this.#rows(table, after, first.key);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return {
        ...nothing,
        next: first.key,
        told: [`row ${keyText(first.key)} of the table ${table.name} can't be read`],
      };
    }
  }

  async sequences(): Promise<ReadonlyMap<string, bigint>> {
    const found = new Map<string, bigint>();
    for (const { name, key, numbered } of movedTables) {
      if (!numbered) continue;
      const of = await this.#ask(`select pg_get_serial_sequence('${quoted(name)}', '${key[0]}')`);
      const [row] = await this.#ask(
        `select last_value - case when is_called then 0 else 1 end from ${of[0]?.text() ?? ""}`,
      );
      const highest = row && nextCell(row, { type: "int" });
      found.set(name, typeof highest === "bigint" ? highest : 0n);
    }
    return found;
  }

  async #ask(sql: string) {
    const [result] = await this.session.run(step({ name: "", sql }));
    return result?.rows ?? [];
  }

  /** The places before what can't be read. Undefined where that is the next row. */
  async #readable(table: Table, after: Key | undefined): Promise<readonly Place[] | undefined> {
    for (let few = this.#asked.get(table.name) ?? fewRows; few >= 1; few >>= 1)
      try {
        return await this.#places(table, after, few);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    return undefined;
  }

  async #places(table: Table, after: Key | undefined, limit: number): Promise<readonly Place[]> {
    const { sizes, sizesAfter } = this.#of(table);
    const asked = after === undefined ? step(sizes, int(limit)) : step(sizesAfter, ...keyOf(table, after), int(limit));
    const [result] = await this.session.run(asked);
    return (result?.rows ?? []).map((row) => {
      const key = keyColumns(table).map((column) => nextCell(row, column));
      return { key, bytes: row.int() };
    });
  }

  async #rows(table: Table, after: Key | undefined, last: Key): Promise<Page> {
    const { rows: upTo, rowsAfter } = this.#of(table);
    const end = keyOf(table, last);
    const asked: Step = after === undefined ? step(upTo, ...end) : step(rowsAfter, ...end, ...keyOf(table, after));
    const [result] = await this.session.run(asked);
    const rows: Row[] = [];
    let bytes = 0;
    for (const read of result?.rows ?? []) {
      const row: Cell[] = table.columns.map((column) => nextCell(read, column));
      rows.push(row);
      bytes += sizeOf(row);
    }
    return { rows, bytes, next: last, told: [] };
  }

  #skip(table: Table, after: Key | undefined): Promise<Page> {
    return skipped(table, after, async (from) => {
      try {
        const [place] = await this.#places(table, [from], 1);
        return place?.key[0];
      } catch (error) {
        if (!isDamage(error)) throw error;
        return "damaged";
      }
    });
  }

  #of(table: Table): Statements {
    const known = this.#statements.get(table.name);
    if (known !== undefined) return known;
    const { name, columns } = table;
    const key = table.key.map(quoted).join(", ");
    const size = columns
      .filter(({ type }) => type === "text" || type === "bytes")
      .map((column) => ` + coalesce(octet_length(${quoted(column.name)}), 0)`);
    const keys = `select ${key}, (${8 * columns.length}${size.join("")})::bigint from ${quoted(name)}`;
    const all = `select ${columns.map((column) => quoted(column.name)).join(", ")} from ${quoted(name)}`;
    const own = `where ${ownRows[name] ?? "true"}`;
    const marks = (from: number) =>
      keyColumns(table)
        .map((column, index) => `$${from + index}::${typeName(column)}`)
        .join(", ");
    const count = table.key.length;
    const made = {
      sizes: { name: `sizes_${name}`, sql: `${keys} ${own} order by ${key} limit $1::bigint` },
      sizesAfter: {
        name: `sizes_after_${name}`,
        sql: `${keys} ${own} and (${key}) > (${marks(1)}) order by ${key} limit $${count + 1}::bigint`,
      },
      rows: { name: `rows_${name}`, sql: `${all} ${own} and (${key}) <= (${marks(1)}) order by ${key}` },
      rowsAfter: {
        name: `rows_after_${name}`,
        sql: `${all} ${own} and (${key}) <= (${marks(1)}) and (${key}) > (${marks(count + 1)}) order by ${key}`,
      },
    };
    this.#statements.set(name, made);
    return made;
  }
}

const nothing = { rows: [], bytes: 0 };

function keyColumns({ columns, keyAt }: Table) {
  return keyAt.flatMap((at) => columns[at] ?? []);
}

function keyOf(table: Table, key: Key) {
  return keyColumns(table).map((column, at) => parameter(key[at] ?? null, column));
}
