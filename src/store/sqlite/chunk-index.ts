import type { DeviceKey } from "../../model/device.ts";
import { chunkBytes } from "../records/batch.ts";

/** Numbers of one entry: seq, first, last, count, bytes. */
const stride = 5;

/** A chunk of so many records, or so many bytes, is left as it is: putting it together with others would gain little. */
export const fullChunk = 128;
export const fullBytes = chunkBytes / 2;

/** A chunk with its row number. */
export interface PlacedChunk {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly bytes: number;
}

/** How much a step takes at most, but for the chunk that reaches past it. */
export interface Most {
  readonly records: number;
  readonly bytes: number;
}

/** The chunks of one device, by (first, seq), in one typed array of 40 bytes a chunk. */
export class DeviceChunks {
  #numbers = new Float64Array(2 * stride);
  #length = 0;
  /** Longest time from a chunk's first to its last record: no chunk that begins earlier than this before a moment can reach it. */
  #longest = 0;
  #replaced = 0;
  #small = 0;
  /** Shifts that are not yet folded into the chunks: how many, and the event time from which on they concern records. */
  shifts = { count: 0, since: Number.POSITIVE_INFINITY };

  get length(): number {
    return this.#length;
  }

  /** How often chunks were put together: places in this index that were found before are of no use then. */
  get replaced(): number {
    return this.#replaced;
  }

  /** Chunks that are to be put together some time, since they hold few records. */
  get small(): number {
    return this.#small;
  }

  seq(index: number): number {
    return this.#numbers[index * stride] ?? 0;
  }

  first(index: number): number {
    return this.#numbers[index * stride + 1] ?? 0;
  }

  last(index: number): number {
    return this.#numbers[index * stride + 2] ?? 0;
  }

  count(index: number): number {
    return this.#numbers[index * stride + 3] ?? 0;
  }

  bytes(index: number): number {
    return this.#numbers[index * stride + 4] ?? 0;
  }

  /** Whether a chunk is to be put together with others some time. */
  #isSmall(index: number): boolean {
    return this.count(index) < fullChunk && this.bytes(index) < fullBytes;
  }

  insert(seq: number, first: number, last: number, count: number, bytes: number): void {
    if ((this.#length + 1) * stride > this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    const late = this.#length > 0 && first < this.first(this.#length - 1);
    const at = (late ? this.position(first, seq) : this.#length) * stride;
    if (late) numbers.copyWithin(at + stride, at, this.#length * stride);
    numbers[at] = seq;
    numbers[at + 1] = first;
    numbers[at + 2] = last;
    numbers[at + 3] = count;
    numbers[at + 4] = bytes;
    this.#length++;
    if (this.#isSmall(at / stride)) this.#small++;
    if (last - first > this.#longest) this.#longest = last - first;
  }

  #grow(): void {
    // By half, in whole entries: idle devices should not hold twice what they need.
    const entries = Math.ceil(this.#length * 1.5) + 2;
    const grown = new Float64Array(entries * stride);
    grown.set(this.#numbers);
    this.#numbers = grown;
  }

  /** Index of the first chunk that is not before (first, seq). */
  position(first: number, seq: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const begin = this.first(middle);
      if (begin < first || (begin === first && this.seq(middle) < seq)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index from which on chunks may reach a moment. */
  reaching(time: number): number {
    return this.position(time - this.#longest, 0);
  }

  /** Row numbers of all chunks that overlap the range (inclusive). */
  overlapping(from: number, to: number): number[] {
    const seqs: number[] = [];
    for (let index = this.reaching(from); index < this.#length && this.first(index) <= to; index++)
      if (this.last(index) >= from) seqs.push(this.seq(index));
    return seqs;
  }

  /** Row numbers of all chunks that overlap a moment, in portions of at most so many records, but for a chunk that has more by itself. */
  portions(time: number, records: number): readonly (readonly number[])[] {
    const portions: number[][] = [];
    let taken = records;
    for (let index = this.reaching(time); index < this.#length && this.first(index) <= time; index++) {
      if (this.last(index) < time) continue;
      taken += this.count(index);
      if (taken > records) {
        portions.push([]);
        taken = this.count(index);
      }
      portions.at(-1)?.push(this.seq(index));
    }
    return portions;
  }

  /** Row numbers of the chunks of which some hold the newest record of all before a moment. */
  newestBefore(time: number): number[] {
    let newest = Number.NEGATIVE_INFINITY;
    // Going back in the order of beginnings: once a chunk's end is known, only chunks that can reach past it matter.
    const seqs: { readonly seq: number; readonly last: number }[] = [];
    for (let index = this.position(time, 0) - 1; index >= 0; index--) {
      if (this.first(index) + this.#longest < newest) break;
      const last = this.last(index);
      // A chunk that reaches the moment or passes it holds its newest record before it somewhere; its first is one at least.
      const known = last < time ? last : this.first(index);
      if (known > newest) newest = known;
      if (last >= newest) seqs.push({ seq: this.seq(index), last });
    }
    return seqs.filter(({ last }) => last >= newest).map(({ seq }) => seq);
  }

  /** When the first small chunk begins; infinite: there is none. */
  firstSmall(): number {
    if (this.#small === 0) return Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#length; index++) if (this.#isSmall(index)) return this.first(index);
    return Number.POSITIVE_INFINITY;
  }

  /**
   * Row numbers of chunks that follow each other, reach past a moment and are older than the row number `until`, of about so much and at most so many
   * rows; the first ones that are worth putting together, or all where shifts concern them.
   */
  slice(from: number, until: number, most: Most & { readonly rows: number }, shifted: boolean): number[] {
    for (let index = this.reaching(from); index < this.#length; ) {
      const seqs: number[] = [];
      let some = shifted;
      let [records, bytes] = [0, 0];
      for (; index < this.#length && records < most.records && bytes < most.bytes && seqs.length < most.rows; index++) {
        if (this.last(index) < from || this.seq(index) >= until) continue;
        if (this.#isSmall(index)) some = true;
        seqs.push(this.seq(index));
        records += this.count(index);
        bytes += this.bytes(index);
      }
      if (some) return seqs;
    }
    return [];
  }

  /** Row numbers of up to so many chunks at the end. */
  newest(limit: number): number[] {
    const seqs: number[] = [];
    for (let index = Math.max(0, this.#length - limit); index < this.#length; index++) seqs.push(this.seq(index));
    return seqs;
  }

  /** Forgets so many chunks at the end. */
  removeNewest(count: number): void {
    this.#length = Math.max(0, this.#length - count);
  }

  /** Puts other chunks in the place of these. */
  replace(seqs: ReadonlySet<number>, chunks: readonly PlacedChunk[]): void {
    const numbers = this.#numbers;
    let to = 0;
    this.#longest = 0;
    this.#small = 0;
    for (let index = 0; index < this.#length; index++) {
      if (seqs.has(this.seq(index))) continue;
      this.#longest = Math.max(this.#longest, this.last(index) - this.first(index));
      if (this.#isSmall(index)) this.#small++;
      numbers.copyWithin(to, index * stride, (index + 1) * stride);
      to += stride;
    }
    this.#length = to / stride;
    this.#numbers = numbers.slice(0, to + (chunks.length + 2) * stride);
    for (const { seq, first, last, count, bytes } of chunks) this.insert(seq, first, last, count, bytes);
    this.#replaced++;
  }
}

/**
 * Where the records of each device are: an index by device and time over a tail that is in the order of commits. It is in memory only, built again
 * at start by one scan of the tail's narrow columns. It costs 40 to 60 bytes a chunk; the compactor puts small chunks together, so that this is for
 * 128 records and more.
 */
export class ChunkIndex {
  readonly #devices = new Map<DeviceKey, DeviceChunks>();
  /** The row number after the highest one. */
  next = 1;
  #size = 0;
  #small = 0;

  /** Chunks of all devices. */
  get size(): number {
    return this.#size;
  }

  /** Those of them that are to be put together some time. */
  get small(): number {
    return this.#small;
  }

  /** Devices that have chunks. */
  get deviceCount(): number {
    return this.#devices.size;
  }

  get(device: DeviceKey): DeviceChunks | undefined {
    return this.#devices.get(device);
  }

  add(device: DeviceKey, seq: number, { first, last, count, bytes }: Omit<PlacedChunk, "seq">): void {
    let chunks = this.#devices.get(device);
    if (chunks === undefined) {
      chunks = new DeviceChunks();
      this.#devices.set(device, chunks);
    }
    const small = chunks.small;
    chunks.insert(seq, first, last, count, bytes);
    this.#size++;
    this.#small += chunks.small - small;
    if (seq >= this.next) this.next = seq + 1;
  }

  /** Puts other chunks in the place of some of a device's. Where it is gone meanwhile, they are there to be deleted. */
  replace(device: DeviceKey, known: DeviceChunks, seqs: ReadonlySet<number>, chunks: readonly PlacedChunk[]): void {
    if (this.#devices.get(device) !== known) {
      for (const chunk of chunks) this.add(device, chunk.seq, chunk);
      return;
    }
    this.#size -= known.length;
    this.#small -= known.small;
    known.replace(seqs, chunks);
    this.#size += known.length;
    this.#small += known.small;
    for (const { seq } of chunks) if (seq >= this.next) this.next = seq + 1;
  }

  /** Devices that have chunks. */
  devices(): Iterable<DeviceKey> {
    return this.#devices.keys();
  }

  /** Takes a device's chunks out of the index. */
  remove(device: DeviceKey): DeviceChunks | undefined {
    const chunks = this.#devices.get(device);
    this.#devices.delete(device);
    this.#size -= chunks?.length ?? 0;
    this.#small -= chunks?.small ?? 0;
    return chunks;
  }
}
