import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { LongWork } from "../backup/refused.ts";
import { megabytes } from "./copy.ts";
import { Ranges } from "./ranges.ts";
import type { Key, ReadSide, Row, Table } from "./rows.ts";

/** What comparing two stores found. */
export interface Compared {
  readonly rows: number;
  readonly bytes: number;
  /** Where they differ. */
  readonly differences: readonly string[];
  /** What can't be read of the source. */
  readonly told: readonly string[];
}

/** Rows of one number, or all rows of a table whose rows have texts for keys. The sum does not depend on the order of the rows: engines may have one of their own for texts. */
interface Group {
  readonly number: bigint | undefined;
  rows: number;
  sum: bigint;
}

/** Findings of each kind that are kept: where everything differs there would be millions. */
const most = 200;
const sums = 2n ** 128n;

/** Reads both stores whole and compares each value of each row. */
export async function compareAll(
  tables: readonly Table[],
  source: ReadSide,
  target: ReadSide,
  { signal, progress }: LongWork,
): Promise<Compared> {
  const differences: string[] = [];
  const told = new Set<string>();
  let [rows, bytes] = [0, 0];
  for (const table of tables) {
    const ranges = new Ranges(table.name);
    const tell = (text: string) => {
      if (told.size < most) told.add(text);
    };
    const ofSource = new Groups(table, source, tell);
    const ofTarget = new Groups(table, target, (text) => ranges.add(undefined, text));
    let [one, other] = [await ofSource.next(), await ofTarget.next()];
    while (one !== undefined || other !== undefined) {
      const order = one === undefined ? 1 : other === undefined ? -1 : compared(one, other);
      if (order !== 0 || one?.sum !== other?.sum || one?.rows !== other?.rows)
        ranges.add((order > 0 ? other : one)?.number, order < 0 ? "missing" : order > 0 ? "added" : "different");
      if (order <= 0) one = await ofSource.next();
      if (order >= 0) other = await ofTarget.next();
      if (!ofSource.hasRead) continue;
      ofSource.hasRead = false;
      signal.throwIfAborted();
      progress(() => `comparing ${table.name}: ${rows + ofSource.rows} rows, ${megabytes(bytes + ofSource.bytes)}`);
      await nextTurn();
    }
    rows += ofSource.rows;
    bytes += ofSource.bytes;
    differences.push(...ranges.texts().slice(0, most - differences.length));
  }
  const [ofSource, ofTarget] = [await source.sequences(), await target.sequences()];
  for (const [table, highest] of ofSource)
    if (ofTarget.get(table) !== highest) differences.push(`the table ${table}: new rows would get other numbers`);
  return { rows, bytes, differences, told: [...told] };
}

function compared(one: Group, other: Group): number {
  const [first = 0n, second = 0n] = [one.number, other.number];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The groups of a table in the order of their numbers. */
class Groups {
  rows = 0;
  bytes = 0;
  /** Whether a page was read since somebody looked. */
  hasRead = false;
  readonly #table: Table;
  readonly #side: ReadSide;
  readonly #tell: (text: string) => void;
  #page: readonly Row[] = [];
  #at = 0;
  #after: Key | undefined;
  #ended = false;

  constructor(table: Table, side: ReadSide, tell: (text: string) => void) {
    this.#table = table;
    this.#side = side;
    this.#tell = tell;
  }

  async next(): Promise<Group | undefined> {
    let group: Group | undefined;
    for (;;) {
      const row = await this.#row();
      if (row === undefined) return group;
      const number = this.#numberOf(row);
      group ??= { number, rows: 0, sum: 0n };
      if (number !== group.number) return group;
      this.#at++;
      group.rows++;
      group.sum = (group.sum + sumOf(row)) % sums;
    }
  }

  #numberOf(row: Row): bigint | undefined {
    const value = row[this.#table.keyAt[0] ?? 0];
    return typeof value === "bigint" ? value : undefined;
  }

  async #row(): Promise<Row | undefined> {
    while (this.#at >= this.#page.length && !this.#ended) {
      const { rows, bytes, next, told } = await this.#side.page(this.#table, this.#after);
      this.#page = rows;
      this.#at = 0;
      this.#after = next;
      this.#ended = next === undefined;
      this.hasRead = true;
      this.rows += rows.length;
      this.bytes += bytes;
      for (const text of told) this.#tell(text);
    }
    return this.#page[this.#at];
  }
}

/** A checksum of all values of a row. SQLite has no -0. */
function sumOf(row: Row): bigint {
  const heads = Buffer.alloc(9 * row.length);
  const parts: Uint8Array[] = [heads];
  for (const [index, cell] of row.entries()) {
    const at = 9 * index;
    if (typeof cell === "bigint") heads.writeBigInt64BE(cell, heads.writeUInt8(1, at));
    else if (typeof cell === "number") heads.writeDoubleBE(cell === 0 ? 0 : cell, heads.writeUInt8(2, at));
    else if (cell !== null) {
      heads.writeUInt32BE(cell.byteLength, heads.writeUInt8(3, at));
      parts.push(cell);
    }
  }
  const sum = hash("sha256", parts.length === 1 ? heads : Buffer.concat(parts), "buffer");
  return (sum.readBigUInt64BE(0) << 64n) | sum.readBigUInt64BE(8);
}
