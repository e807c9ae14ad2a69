import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { unpackBlock } from "../blocks/block.ts";
import { wholeRecords } from "../records/chunk-check.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { isWhole } from "../records/row-sum.ts";
import type { Spent, SpentOfDevice } from "../records/spent.ts";
import { isDamage } from "./engine-errors.ts";
import { doubles } from "./row-sums.ts";
import { RowsAround } from "./rows-around.ts";

/** Rows that are read at a time. */
const some = 1024;

/** A row of the tail or a block, without its bytes. */
interface Chunk {
  readonly seq: number;
  readonly device: DeviceKey;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Of a row: its checksum. Of a block: bytes of its records. */
  readonly more: unknown;
}

type ByDevice = ReadonlyMap<DeviceKey, readonly Chunk[]>;

/**
 * Finds out which rows of the tail are spent where the table that says so is damaged: those whose records are all in blocks. `isAsked`: of which devices. `schema`: of an attached
 * database. Reads the numbers of all rows and blocks. Of these devices, it also reads the records of those that overlap each other.
 */
export function spentAgain(
  database: DatabaseSync,
  schema: string,
  isAsked: (device: DeviceKey) => boolean,
): readonly SpentOfDevice[] {
  const blocks = chunksOf(database, `${schema}.block`, "bytes", isAsked);
  const rows = chunksOf(database, `${schema}.tail`, "crc", (device) => blocks.has(device));
  const read = database.prepare(`select data from ${schema}.tail where seq = ?`);
  return [...blocks].map(([device, own]) => {
    const sealed = new Sealed(own, database.prepare(`select data from ${schema}.block_data where seq = ?`));
    return { device, ...spentOf(rows.get(device) ?? [], (row) => recordsOf(row, read), sealed) };
  });
}

function chunksOf(
  database: DatabaseSync,
  table: string,
  more: "bytes" | "crc",
  isAsked: (device: DeviceKey) => boolean,
): ByDevice {
  const found = new Map<DeviceKey, Chunk[]>();
  const columns = doubles(["seq", "device", "first", "last", "count", more]);
  for (const row of new RowsAround(database, { table, columns }).all(some)) {
    if ("from" in row) continue;
    const [seq = 0, device = 0, first = 0, last = 0, count = 0] = row.map(Number);
    const known = found.get(device);
    const chunk = { seq, device, first, last, count, more: row[5] };
    if (known !== undefined) known.push(chunk);
    else if (isAsked(device)) found.set(device, [chunk]);
  }
  return found;
}

/** What is spent of a device. `read`: gives the records of a row, or undefined where they are damaged. Such a row stays: nobody knows what it holds. */
function spentOf(rows: readonly Chunk[], read: (row: Chunk) => Uint8Array | undefined, sealed: Sealed): Spent {
  const spent = new Set<number>();
  let seq = 0;
  for (const row of rows.toSorted((one, other) => one.first - other.first)) {
    const near = sealed.near(row);
    const records = near.length === 0 ? undefined : read(row);
    if (records === undefined || !sealed.hold(near, records)) continue;
    spent.add(row.seq);
    seq = Math.max(seq, row.seq);
  }
  return { seq, stays: rows.filter((row) => row.seq <= seq && !spent.has(row.seq)).map((row) => row.seq) };
}

function recordsOf({ seq, device, first, last, count, more }: Chunk, read: StatementSync): Uint8Array | undefined {
  return readable(() => {
    const data = read.get(seq)?.data;
    if (!(data instanceof Uint8Array)) return undefined;
    const whole = isWhole(more, [seq, device, first, last, count], data);
    return wholeRecords({ first, last, count, data, whole });
  });
}

/** The records in a device's blocks. */
class Sealed {
  readonly #blocks: readonly Chunk[];
  readonly #data: StatementSync;
  /** Places of the records, by the block's row number. */
  readonly #known = new Map<number, ReadonlySet<string>>();

  constructor(blocks: readonly Chunk[], data: StatementSync) {
    this.#blocks = blocks;
    this.#data = data;
  }

  /** The blocks that overlap a row. Call it with rows in the order of their beginnings. */
  near(row: Chunk): readonly Chunk[] {
    const near = this.#blocks.filter(({ first, last }) => first <= row.last && last >= row.first);
    const seqs = new Set(near.map(({ seq }) => seq));
    for (const seq of this.#known.keys()) if (!seqs.has(seq)) this.#known.delete(seq);
    return near;
  }

  /** Whether all of some records are in some of the blocks. */
  hold(blocks: readonly Chunk[], records: Uint8Array): boolean {
    const places = blocks.map((block) => this.#placesIn(block));
    return placesOf(records).every((place) => places.some((own) => own.has(place)));
  }

  #placesIn(block: Chunk): ReadonlySet<string> {
    const { seq, more } = block;
    let places = this.#known.get(seq);
    if (places === undefined) {
      const records = readable(() => {
        const data = this.#data.get(seq)?.data;
        return data instanceof Uint8Array ? unpackBlock({ ...block, data }, Number(more)) : undefined;
      });
      places = new Set(records && placesOf(records));
      this.#known.set(seq, places);
    }
    return places;
  }
}

/** What tells records apart. */
function placesOf(records: Uint8Array): string[] {
  const places: string[] = [];
  const cursor = new RecordCursor(records);
  for (let at = 0; at < records.byteLength; at = cursor.end) {
    cursor.readKey(at);
    places.push(`${cursor.time}/${cursor.hash}`);
  }
  return places;
}

/** Runs `read`. Undefined where that fails because something is damaged. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
