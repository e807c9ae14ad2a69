import type { DeviceKey } from "../../model/device.ts";
import { mostStays, type Spent } from "../records/spent.ts";
import type { DeviceChunks, PlacedChunk } from "./device-chunks.ts";

/** Row numbers of a range, which are deleted together. */
const rangeRows = 1024;
/** Of a range's rows, the part that may still be in use when the others are deleted. Each page that keeps a row is written once more. A range that was not counted yet may have all its rows. */
const mostInUse = 1 / 16;
/** Spent rows from which on it is worth counting a range's rows. */
const fewSpent = 16;
/** Bytes of spent rows that may be kept beside as many bytes as the tail has. */
const freeBytes = 16 * 1024 * 1024;
/** Numbers of deleted rows that may be kept beside as many as there are spent rows. */
const freeNumbers = 65_536;

/** Spent rows of a range of row numbers: a bit for each number. */
class Range {
  readonly #bits = new Uint32Array(rangeRows / 32);
  count = 0;
  bytes = 0;
  /** The range's rows, spent or not, as they were last counted. Undefined: they were not yet. */
  rows: number | undefined;
  /** Its rows could not be deleted, and are left to the next start. */
  isLeft = false;

  has(at: number): boolean {
    return (((this.#bits[at >> 5] ?? 0) >> (at & 31)) & 1) === 1;
  }

  /** Adds a row. Returns how many bytes more there are to be deleted. */
  add(at: number, bytes: number): number {
    if (this.has(at)) return 0;
    this.#bits[at >> 5] = (this.#bits[at >> 5] ?? 0) | (1 << (at & 31));
    this.count++;
    if (this.isLeft) return 0;
    this.bytes += bytes;
    return bytes;
  }

  /** Takes a row out. Returns about how many bytes the row has. */
  remove(at: number): number {
    if (!this.has(at)) return 0;
    const bytes = this.bytes / this.count;
    this.#bits[at >> 5] = (this.#bits[at >> 5] ?? 0) & ~(1 << (at & 31));
    this.count--;
    this.bytes -= bytes;
    return bytes;
  }

  *places(): Generator<number> {
    for (let at = 0; at < rangeRows; at++) if (this.has(at)) yield at;
  }
}

/** Spent rows to be deleted in one step, and the range of row numbers that they lie in. */
export interface Trim {
  readonly from: number;
  readonly to: number;
  readonly seqs: readonly number[];
  /** If more of the range's rows are in use, none is deleted. */
  readonly mostInUse: number;
}

/**
 * Spent rows of the tail (`records/spent.ts`), and when they are deleted. The rows of one device lie on as many pages, and to delete them writes each page. So they stay until nearly all
 * rows around them are spent.
 */
export class SpentTail {
  readonly #upTo = new Map<DeviceKey, number>();
  /** Numbers of spent rows, and of some that were deleted since. */
  readonly #byDevice = new Map<DeviceKey, number[]>();
  /** How many numbers that are. */
  #numbers = 0;
  readonly #ranges = new Map<number, Range>();
  #rows = 0;
  #bytes = 0;
  #lacksRows = false;

  /** Bytes of spent rows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Notes what a start finds. */
  loaded(spent: Iterable<Spent & { readonly device: DeviceKey }>): void {
    for (const { device, seq } of spent) this.#upTo.set(device, seq);
  }

  /**
   * Notes that the tail has rows that the index does not know, because they can't be read. Nobody knows whose they are. So they can't be among those that stay, and would count as spent
   * once they can be read again. From now on sealed rows are deleted at once.
   */
  lacksRows(): void {
    this.#lacksRows = true;
  }

  /** Notes a spent row that is in the tail. */
  add(device: DeviceKey, { seq, bytes }: Pick<PlacedChunk, "seq" | "bytes">): void {
    const number = Math.floor(seq / rangeRows);
    const range = this.#ranges.get(number) ?? new Range();
    this.#ranges.set(number, range);
    this.#rows -= range.count;
    this.#bytes += range.add(seq - number * rangeRows, bytes);
    this.#rows += range.count;
    this.#numbers++;
    const own = this.#byDevice.get(device);
    if (own === undefined) this.#byDevice.set(device, [seq]);
    else own.push(seq);
  }

  /** What is spent of a device once some of its chunks are in blocks. Undefined: the sealed ones are to be deleted at once, because so many rows between them stay, or because it is unknown which do. */
  after(device: DeviceKey, chunks: DeviceChunks, sealed: ReadonlySet<number>): Spent | undefined {
    if (this.#lacksRows) return undefined;
    let seq = this.#upTo.get(device) ?? 0;
    for (const row of chunks.tailRows()) if (sealed.has(row.seq)) seq = Math.max(seq, row.seq);
    const stays: number[] = [];
    for (const row of chunks.tailRows()) {
      if (row.seq > seq || sealed.has(row.seq)) continue;
      if (stays.length === mostStays) return undefined;
      stays.push(row.seq);
    }
    return { seq, stays };
  }

  /** Notes that a device's chunks are in blocks now. Call it before the index forgets them. */
  sealed(device: DeviceKey, { seq }: Spent, chunks: DeviceChunks, sealed: ReadonlySet<number>): void {
    this.#upTo.set(device, seq);
    for (const row of chunks.tailRows()) if (sealed.has(row.seq)) this.add(device, row);
  }

  /** The spent rows of a device that are still in the tail. */
  of(device: DeviceKey): readonly number[] {
    const seqs = this.#byDevice.get(device) ?? [];
    return seqs.filter((seq) => {
      const number = Math.floor(seq / rangeRows);
      return this.#ranges.get(number)?.has(seq - number * rangeRows) ?? false;
    });
  }

  /** Notes that spent rows were deleted. */
  deleted(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const number = Math.floor(seq / rangeRows);
      const range = this.#ranges.get(number);
      if (range === undefined) continue;
      this.#rows -= range.count;
      this.#bytes -= range.remove(seq - number * rangeRows);
      this.#rows += range.count;
      if (range.count === 0) this.#ranges.delete(number);
    }
    this.#tidy();
  }

  /** Forgets a device that was removed, with all its rows. */
  forget(device: DeviceKey): void {
    this.#upTo.delete(device);
    this.#numbers -= this.#byDevice.get(device)?.length ?? 0;
    this.#byDevice.delete(device);
  }

  /** Forgets the numbers of deleted rows once there are many. */
  #tidy(): void {
    if (this.#numbers <= 2 * this.#rows + freeNumbers) return;
    this.#numbers = 0;
    for (const device of this.#byDevice.keys()) {
      const seqs = [...this.of(device)];
      this.#numbers += seqs.length;
      if (seqs.length > 0) this.#byDevice.set(device, seqs);
      else this.#byDevice.delete(device);
    }
  }

  /** What to delete next. `tailBytes`: what the rows in use have. Undefined: nothing for now. */
  next(tailBytes: number): Trim | undefined {
    for (const [number, range] of this.#ranges) {
      const { count, rows, isLeft } = range;
      if (isLeft) continue;
      if (rows === undefined ? count >= fewSpent : rows - count <= rows * mostInUse)
        return trimOf(number, range, (rows ?? rangeRows) * mostInUse);
    }
    if (this.#bytes <= tailBytes + freeBytes) return undefined;
    for (const [number, range] of this.#ranges) if (!range.isLeft) return trimOf(number, range, rangeRows);
    return undefined;
  }

  /** Notes what became of a step. `inUse`: rows of the range that are in use. */
  trimmed({ from, seqs, mostInUse: most }: Trim, inUse: number): void {
    const number = from / rangeRows;
    const range = this.#ranges.get(number);
    if (range === undefined) return;
    range.rows = inUse + seqs.length;
    if (inUse > most) return;
    this.#ranges.delete(number);
    this.#rows -= range.count;
    this.#bytes -= range.bytes;
    this.#tidy();
  }

  /** Leaves the rows of a step that failed to the next start. They are still deleted with their device. */
  leave({ from }: Trim): void {
    const range = this.#ranges.get(from / rangeRows);
    if (range === undefined) return;
    this.#bytes -= range.bytes;
    range.bytes = 0;
    range.isLeft = true;
  }
}

/** Deletes all spent rows of a device, some at a time. */
export async function deleteSpent(
  spent: SpentTail | undefined,
  device: DeviceKey,
  purge: (seqs: readonly number[]) => Promise<unknown>,
): Promise<void> {
  const seqs = spent?.of(device) ?? [];
  for (let at = 0; at < seqs.length; at += rangeRows) {
    const some = seqs.slice(at, at + rangeRows);
    await purge(some);
    spent?.deleted(some);
  }
}

function trimOf(number: number, range: Range, mostInUse: number): Trim {
  const from = number * rangeRows;
  const seqs = [...range.places()].map((at) => from + at);
  return { from, to: from + rangeRows - 1, seqs, mostInUse: Math.floor(mostInUse) };
}
