import type { DatabaseSync, StatementSync } from "node:sqlite";
import { checkBlock } from "../blocks/block-check.ts";
import { noMatch } from "../locations/failures.ts";
import { type CheckedChunk, checkChunk } from "../records/chunk-check.ts";
import { areNumbersWhole } from "../records/row-sum.ts";
import type { SpentRows } from "../records/spent.ts";
import { columnsOf, isRowWhole } from "../sqlite/row-sums.ts";
import { isDamage } from "./damage.ts";

/** A row of the tail or a block, and what reading its records found. */
export interface Row {
  readonly table: "tail" | "block";
  readonly seq: number;
  readonly device: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly checked: CheckedChunk;
}

/** Who hears what the walk finds. */
export interface Listener {
  row(row: Row): void;
  /** Rows that can't even be told apart; the text says which. */
  unreadable(rows: string): void;
}

const rowsOfStep = 128;
/** Rows of one page lie next to each other, so a damaged page holds at most this many. */
const nearby = 4096;

/** What reading a row's records finds. */
export function rowOf(table: Row["table"], row: Readonly<Record<string, unknown>>, data: unknown): Row & Judged {
  const numbers = { first: Number(row.first), last: Number(row.last), count: Number(row.count) };
  const device = Number(row.device);
  const why = data instanceof Error ? "a page can't be read" : "it holds no bytes";
  const check = table === "tail" ? checkChunk : checkBlock;
  const found =
    data instanceof Uint8Array ? check({ ...numbers, device, data }) : { records: 0, numbered: 0, problem: why };
  return judged(table, row, data, found);
}

/** Like `rowOf` for a block of which is known how many of its records are numbered, because its bytes were read before. */
function readRowOf(row: Readonly<Record<string, unknown>>, numbered: unknown): Row & Judged {
  const isKnown = typeof numbered === "number";
  const found = isKnown ? { records: Number(row.count), numbered } : { records: 0, numbered: 0 };
  return judged("block", row, undefined, { ...found, problem: isKnown ? undefined : "it holds no bytes" });
}

interface Judged {
  /** Its numbers or bytes do not match its checksum. */
  readonly misfits: boolean;
}

function judged(
  table: Row["table"],
  row: Readonly<Record<string, unknown>>,
  data: unknown,
  found: CheckedChunk,
): Row & Judged {
  const misfits = (data instanceof Uint8Array || table === "block") && isRowWhole(table, { ...row, data }) === false;
  const checked = misfits ? { ...found, problem: found.problem ?? noMatch } : found;
  const [seq, device] = [Number(row.seq), Number(row.device)];
  const numbers = { first: Number(row.first), last: Number(row.last), count: Number(row.count) };
  return { table, seq, device, ...numbers, checked, misfits };
}

/** Reads the tail or the blocks in the order of their row numbers, and skips damaged pages. */
export class ChunkWalk {
  readonly #table: Row["table"];
  readonly #listener: Listener;
  readonly #some: StatementSync;
  readonly #next: StatementSync;
  readonly #data: StatementSync;
  readonly #low: number;
  readonly #high: number;
  readonly #isRead: boolean;
  readonly #spent: SpentRows;
  #after: number;

  /** `isRead`: the blocks' bytes were read and checked when they were put into packs, so only their rows are read. `spent`: rows of the tail that are passed over. */
  constructor(
    database: DatabaseSync,
    table: Row["table"],
    listener: Listener,
    { isRead, spent }: { readonly isRead: boolean; readonly spent: SpentRows },
  ) {
    this.#spent = spent;
    this.#isRead = table === "block" && isRead;
    this.#listener = listener;
    this.#table = table;
    // Ordered by rowid: `seq` would mean the double that is selected under this name, by which no index is sorted.
    const own = columnsOf(database, table);
    const [columns, whole] =
      table === "tail" ? [own, "tail"] : [`${own}, data`, `block left join ${this.#dataTable} using (seq)`];
    const some = `where ${table}.rowid > ? order by ${table}.rowid limit`;
    this.#some = database.prepare(`select ${columns} from ${whole} ${some} ${rowsOfStep}`);
    this.#next = database.prepare(`select ${own.replace(", data", ", null as data")} from ${table} ${some} 1`);
    this.#data = database.prepare(`select data from ${table === "tail" ? "tail" : this.#dataTable} where seq = ?`);
    this.#low = edge(database, table, "asc") ?? 1;
    this.#high = edge(database, table, "desc") ?? Number.MAX_SAFE_INTEGER;
    this.#after = Math.min(this.#low, this.#high) - 1;
  }

  /** What has the bytes of blocks, or for blocks that were read how many of their records are numbered. */
  get #dataTable(): string {
    return this.#isRead ? "(select seq, numbered as data from packed_block)" : "block_data";
  }

  /** Progress in percent. */
  get percent(): number {
    return Math.min(100, Math.floor((100 * (this.#after - this.#low + 1)) / (this.#high - this.#low + 1)));
  }

  /** Reads the next rows. Returns false when there are none. */
  step(): boolean {
    let rows: ReturnType<StatementSync["all"]>;
    try {
      rows = this.#some.all(this.#after);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return this.#oneByOne();
    }
    const before = this.#after;
    for (const row of rows) this.#tell(row, row.data);
    if (this.#after === before) this.#after++;
    return rows.length > 0;
  }

  /** Reads as many rows as a step does, each by itself: something in them is damaged. */
  #oneByOne(): boolean {
    for (let count = 0; count < rowsOfStep; count++) {
      let row: ReturnType<StatementSync["get"]>;
      try {
        row = this.#next.get(this.#after);
      } catch (error) {
        if (!isDamage(error)) throw error;
        return this.#skip();
      }
      if (row === undefined) return false;
      const before = this.#after;
      this.#tell(row, this.#dataOf(Number(row.seq)));
      if (this.#after === before) this.#after++;
    }
    return true;
  }

  /** The bytes of a row, or why they can't be read. */
  #dataOf(seq: number): unknown {
    try {
      return this.#data.get(seq)?.data;
    } catch (error) {
      if (isDamage(error)) return error;
      throw error;
    }
  }

  /** Skips damaged rows up to the next readable one. Returns false when none is left. */
  #skip(): boolean {
    const from = this.#after;
    for (let distance = 1; from + distance <= this.#high; distance += distance < nearby ? 1 : distance) {
      if (!this.#readable(from + distance)) continue;
      const next = Number(this.#next.get(from + distance)?.seq ?? this.#high + 1);
      this.#listener.unreadable(
        `${this.#rowsText(from + 1, next - 1)} of the positions can't be read: a page is damaged`,
      );
      this.#after = next - 1;
      return true;
    }
    this.#listener.unreadable(
      `${this.#rowsText(from + 1, this.#high)} of the positions can't be read: pages are damaged`,
    );
    return false;
  }

  #readable(after: number): boolean {
    try {
      this.#next.get(after);
      return true;
    } catch (error) {
      if (isDamage(error)) return false;
      throw error;
    }
  }

  #tell(row: Readonly<Record<string, unknown>>, data: unknown): void {
    const { misfits, ...found } = this.#isRead ? readRowOf(row, data) : rowOf(this.#table, row, data);
    const { seq } = found;
    // A damaged row may have any number.
    if (seq > this.#after && (seq <= this.#high || !misfits)) this.#after = seq;
    if (this.#table === "tail" && this.#isSpent(found, row.crc)) return;
    this.#listener.row(found);
  }

  /** If its bytes alone are damaged, a spent row is one nevertheless: nothing is lost with it. */
  #isSpent(row: Omit<Row, "checked">, crc: unknown): boolean {
    const { seq, device, first, last, count } = row;
    return areNumbersWhole(crc, [seq, device, first, last, count]) !== false && this.#spent.has(row);
  }

  #rowsText(from: number, to: number): string {
    const what = this.#table === "tail" ? "row" : "block";
    return to <= from ? `${what} ${from}` : `${what}s ${from} to ${to}`;
  }
}

/** Returns the first or the last row number, or undefined when there is none or it can't be read. */
function edge(database: DatabaseSync, table: Row["table"], order: "asc" | "desc"): number | undefined {
  try {
    const seq = database
      .prepare(`select cast(seq as real) as number from ${table} order by seq ${order} limit 1`)
      .get()?.number;
    return typeof seq === "number" ? seq : undefined;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}
