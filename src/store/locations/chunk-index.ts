import type { DeviceKey } from "../../model/device.ts";
import type { Separates } from "../records/batch.ts";
import { type Amount, type Chunk, DeviceChunks, type Gap, type PlacedChunk } from "./device-chunks.ts";
import { mostSeq } from "./sizes.ts";
import type { SpentTail } from "./spent-tail.ts";

/** Two late records share a chunk when fewer than about this many others lie between them: reading some others costs less than another chunk. */
const fewOthers = 2;

const noGap: Gap = { from: 0, until: 0, density: 0 };

/** Tells when an index has all blocks: see `BlockLoading`. */
export interface BlocksOfIndex {
  readonly isWhole: boolean;
  /** Resolves when the index has all blocks. Rejects where they can't be read now: the next call goes on from there. */
  whole(): Promise<void>;
}

/**
 * Where the records of each device are: an index by device and time over the blocks, and over the tail, which is in the order of commits. The index is in memory only. Each
 * start builds it anew by scans of narrow columns: of the tail before the service is ready, of the blocks after that (`BlockLoading`). A chunk takes 48 to 72 bytes: once sealed, that is for 256 records or more.
 */
export class ChunkIndex {
  readonly #devices = new Map<DeviceKey, DeviceChunks>();
  /** The row number after the highest one. */
  next = 1;
  #size = 0;
  /** Chunks of the tail, of all devices. */
  readonly tail: Amount = { chunks: 0, records: 0, bytes: 0 };
  /** Rows of the tail that are in blocks by now. Undefined where the engine deletes these at once. */
  readonly spent: SpentTail | undefined;

  constructor(spent?: SpentTail) {
    this.spent = spent;
  }

  /** Chunks of all devices. */
  get size(): number {
    return this.#size;
  }

  /** Blocks of all devices. */
  get blocks(): number {
    return this.#size - this.tail.chunks;
  }

  /** Devices that have chunks. */
  get deviceCount(): number {
    return this.#devices.size;
  }

  get(device: DeviceKey): DeviceChunks | undefined {
    return this.#devices.get(device);
  }

  add(device: DeviceKey, seq: number, { first, last, count, bytes, sealed }: Chunk): void {
    this.#of(device).insert(seq, first, last, count, bytes, sealed);
    this.#size++;
    if (!sealed) {
      this.tail.chunks++;
      this.tail.records += count;
      this.tail.bytes += bytes;
    }
    this.past(seq);
  }

  #of(device: DeviceKey): DeviceChunks {
    let chunks = this.#devices.get(device);
    if (chunks === undefined) {
      chunks = new DeviceChunks();
      this.#devices.set(device, chunks);
    }
    return chunks;
  }

  /** Adds the block at an offset of a scan's answer, without an object of its own: there may be millions. `room`: how many blocks devices will have, of those that have none yet. */
  addScanned(rows: Float64Array, at: number, room: Map<DeviceKey, number>): void {
    const seq = rows[at] ?? 0;
    const device = rows[at + 1] ?? 0;
    const chunks = this.#of(device);
    const blocks = room.get(device);
    if (blocks !== undefined) {
      chunks.reserve(blocks);
      room.delete(device);
    }
    chunks.insert(seq, rows[at + 2] ?? 0, rows[at + 3] ?? 0, rows[at + 4] ?? 0, rows[at + 5] ?? 0, true);
    this.#size++;
    this.past(seq);
    this.past(rows[at + 6] ?? 0);
  }

  /** The highest row number of a device's chunks. Chunks that are sealed give way to a block with a higher one, so a later start finds it or a higher one. */
  newest(device: DeviceKey): number {
    return Math.min(this.#devices.get(device)?.highest ?? 0, this.next - 1);
  }

  /** Notes that a row number is taken, so that `next` is higher. A damaged row may have any number: one that leaves no room for more is ignored. */
  past(seq: number): void {
    if (seq >= this.next && seq < mostSeq) this.next = seq + 1;
  }

  /** Replaces some chunks of a device by others. If the device was removed meanwhile, the others are added, so that the purger finds and deletes them. */
  replace(device: DeviceKey, known: DeviceChunks, seqs: ReadonlySet<number>, chunks: readonly PlacedChunk[]): void {
    if (this.#devices.get(device) !== known) {
      for (const chunk of chunks) this.add(device, chunk.seq, chunk);
      return;
    }
    this.#count(known, -1);
    known.replace(seqs, chunks);
    this.#count(known, 1);
    for (const { seq } of chunks) this.past(seq);
  }

  /**
   * Returns a function that tells whether stored records lie between two records of a commit. They do when a chunk begins or ends between the two, and are taken to do so when the
   * chunks that reach over both have some records there on average. So records that fill a gap within a chunk are not separated. Nor are records of one moment, which may be
   * thousands. The function keeps the last gap that it found, because most records lie in the same gap as the record before.
   */
  separator(): Separates {
    let known: DeviceChunks | undefined;
    let gap = noGap;
    return (device, from, to) => {
      const chunks = this.#devices.get(device);
      if (chunks === undefined) return false;
      if (chunks !== known || from < gap.from || from >= gap.until) gap = chunks.gapAfter(from);
      known = chunks;
      return gap.until < to || gap.density * (to - from) >= fewOthers;
    };
  }

  #count({ length, tail }: DeviceChunks, sign: 1 | -1): void {
    this.#size += sign * length;
    this.tail.chunks += sign * tail.chunks;
    this.tail.records += sign * tail.records;
    this.tail.bytes += sign * tail.bytes;
  }

  /** Devices that have chunks. */
  devices(): Iterable<DeviceKey> {
    return this.#devices.keys();
  }

  /** Takes a device's chunks out of the index. */
  remove(device: DeviceKey): DeviceChunks | undefined {
    const chunks = this.#devices.get(device);
    this.#devices.delete(device);
    if (chunks !== undefined) this.#count(chunks, -1);
    return chunks;
  }
}
