import type { DatabaseSync, StatementSync } from "node:sqlite";
import { spanOfBlock } from "../blocks/layout.ts";
import { nobody, scanColumns } from "../locations/calls.ts";
import { checkChunk } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { unpackRecords } from "../records/packed-rows.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { fitsBytes, fitsNumbers } from "../records/row-sum.ts";
import { corrupt, isDamage, sqliteError } from "./engine-errors.ts";
import { doubles, summed, tailBytes } from "./row-sums.ts";
import { type LostRows, RowsAround } from "./rows-around.ts";

/** Rows of one answer: with many, what is left of them would make the heaps grow by tens of MB. */
const scanRows = 500;

type Table = "tail" | "block";

/** A row of a scan: `scanColumns` numbers. */
type Numbers = readonly number[];

const columnsOf: Readonly<Record<Table, string>> = {
  tail: doubles(["seq", "device", "first", "last", "count", tailBytes, "seq", "crc"]),
  block: doubles([...summed.block, "crc"]),
};

/** The end of unreadable rows when it is unknown. */
const noEnd = Number.MAX_SAFE_INTEGER;

/** Reads the numbers of all chunks of a table, from which the index is built. */
export class Scan {
  readonly #table: Table;
  readonly #rows: RowsAround;
  readonly #data: StatementSync;
  readonly #one: StatementSync;
  readonly #highest: StatementSync;
  /** Event time of the last record that was read. It tells about when the next unreadable ones were. */
  #reached = Number.NaN;

  constructor(database: DatabaseSync, table: Table) {
    const columns = columnsOf[table];
    this.#table = table;
    // If a row can't be read, its numbers without the length of its bytes and without the checksum, which stands behind the bytes, may still be readable.
    const fewer = columns.replace(tailBytes, "null").replace("crc", "null");
    this.#rows = new RowsAround(database, { table, columns, fewer });
    this.#data = database.prepare(`select data from ${table === "tail" ? "tail" : "block_data"} where seq = ?`);
    this.#one = database.prepare(`select 1 from ${table} where seq = ?`);
    this.#highest = database.prepare(`select cast(max(seq) as real) as seq from ${table} where seq < 1 << 52`);
  }

  /** See `ReaderCalls.scan`. */
  read(from: number): Float64Array<ArrayBuffer> {
    const found = this.#rows.read(from, scanRows);
    if ("from" in found) return Float64Array.from(this.#lost(found) ?? []);
    let last = from - 1;
    let damaged = this.#rows.near;
    const mended: number[] = [];
    const numbers = new Float64Array(found.length * scanColumns);
    for (const [index, row] of found.entries()) {
      const read = row.map(Number);
      let own: Numbers = read;
      if (!this.#fits(row, read)) {
        own = this.#mended(read.slice(0, scanColumns), Number(row.at(-1)));
        damaged = true;
        if (own[1] !== nobody) mended.push(...damagedRow(own));
      }
      const [seq = 0, device] = own;
      // A damaged inner page of the tree may lead to a wrong page, or to one page twice.
      if (seq <= last) {
        own = orphan(seq, seq, own);
        damaged = true;
      }
      // Without a checksum, the row number itself may be damaged.
      else if (device !== nobody && row.at(-1) !== null) last = seq;
      for (let column = 0; column < scanColumns; column++) numbers[index * scanColumns + column] = own[column] ?? 0;
    }
    if (damaged) this.#leaveOut(numbers);
    this.#reached = numbers.at(3 - scanColumns) ?? this.#reached;
    return mended.length === 0 ? numbers : Float64Array.from([...mended, ...numbers]);
  }

  /** Whether a row's numbers match its checksum. True if it has none. */
  #fits(row: readonly unknown[], numbers: Numbers): boolean {
    const last = row.length - 1;
    if (row[last] === null) return true;
    return fitsNumbers(numbers[last] ?? 0, numbers, this.#table === "tail" ? summed.tail.length : last);
  }

  /** Leaves out rows that can't be found by their numbers. Near a damaged page, rows may be found in a scan only. */
  #leaveOut(numbers: Float64Array): void {
    for (let at = 0; at < numbers.length; at += scanColumns) {
      const row = numbers.subarray(at, at + scanColumns);
      const [seq = 0, device] = row;
      if (device !== nobody && !this.#holds(seq)) numbers.set(orphan(seq, seq, row), at);
    }
  }

  #holds(seq: number): boolean {
    try {
      return this.#one.get(seq) !== undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return false;
    }
  }

  /** The original numbers of a row that does not match its checksum, or an orphan if they can't be found out. */
  #mended(numbers: Numbers, sum: number): Numbers {
    const [seq = 0] = numbers;
    const data = this.#dataOf(seq);
    const own = this.#table === "tail" ? ownOfTail(numbers, sum, data) : ownOfBlock(numbers, data);
    return own ?? orphan(seq, seq, numbers);
  }

  #dataOf(seq: number): Uint8Array {
    try {
      const data = this.#data.get(seq)?.data;
      return data instanceof Uint8Array ? data : nothing;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return nothing;
    }
  }

  /** An orphan for rows that can't be read. Undefined if all of these have been reported already. */
  #lost({ from, to }: LostRows): Numbers | undefined {
    const last = to ?? this.#last();
    if (from > last || from >= noEnd) return undefined;
    const behind = to === undefined ? undefined : this.#rows.read(to + 1, 1);
    const next = behind !== undefined && !("from" in behind) ? Number(behind[0]?.[2] ?? Number.NaN) : Number.NaN;
    return orphan(from, last, [from, nobody, this.#reached, next]);
  }

  /** The highest row number, so that no new row gets the number of an unreadable one. */
  #last(): number {
    if (this.#table === "block") return noEnd;
    try {
      return Number(this.#highest.get()?.seq ?? 0);
    } catch (error) {
      if (!isDamage(error)) throw error;
      throw tailEndDamaged(error);
    }
  }
}

/** Damage that makes every commit fail: each writes to the end of the tail and takes free pages. */
export function tailEndDamaged({ message }: Error) {
  const what = "the end of the table tail, or the list of free pages, is damaged, so that no position can be stored";
  return sqliteError(`${what}: ${message}`, corrupt);
}

const nothing = new Uint8Array(0);

/** A row of a scan that stands for lost rows: see `nobody`. */
function orphan(
  from: number,
  to: number,
  [, , first = 0, last = 0, count = 0]: ArrayLike<number> & Iterable<number>,
): Numbers {
  return [to, nobody, first, last, count, 0, from];
}

/** A row of a scan that reports a damaged row of a known device. The row itself follows with its original numbers, and reading it fails. */
function damagedRow([seq = 0, device = 0, first = 0, last = 0, count = 0]: Numbers): Numbers {
  return [seq, nobody, first, last, count, device, seq];
}

/** The original numbers of a row of the tail that does not match its checksum, if they can be found out. */
function ownOfTail(numbers: Numbers, sum: number, data: Uint8Array): Numbers | undefined {
  const [seq = 0, device = 0, first = 0, last = 0, count = 0, ...others] = numbers;
  // If only the checksum is damaged, the numbers agree with the records.
  if (!fitsBytes(sum, data))
    return checkChunk({ first, last, count, data }).problem === undefined ? numbers : undefined;
  const span = spanOf(data);
  return span !== undefined && fitsNumbers(sum, [seq, device, ...span]) ? [seq, device, ...span, ...others] : undefined;
}

/** The same for a block. The checksum in its bytes also covers its device, times and count. */
function ownOfBlock([seq = 0, device = 0, , , , ...others]: Numbers, data: Uint8Array): Numbers | undefined {
  const span = spanOfBlock(device, data);
  return span && [seq, device, ...span, ...others];
}

/** Event times of the first and the last of some records, and how many there are. */
function spanOf(data: Uint8Array): readonly [number, number, number] | undefined {
  let [first, last, count] = [0, 0, 0];
  try {
    const records = unpackRecords(data);
    const cursor = new RecordCursor(records);
    for (let at = 0; at < records.byteLength; at = cursor.end) {
      cursor.readKey(at);
      if (count++ === 0) first = cursor.time;
      last = cursor.time;
    }
  } catch (error) {
    if (recordsDamage(error) === undefined) throw error;
    return undefined;
  }
  return [first, last, count];
}
