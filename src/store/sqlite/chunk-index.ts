import type { DeviceKey } from "../../model/device.ts";

/** Numbers of one entry: seq, first, last, count. */
const stride = 4;

/** The chunks of one device, by (first, seq), in one typed array of 32 bytes a chunk. */
export class DeviceChunks {
  #numbers = new Float64Array(2 * stride);
  #length = 0;
  /** Longest time from a chunk's first to its last record: no chunk that begins earlier than this before a moment can reach it. */
  #longest = 0;

  get length(): number {
    return this.#length;
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

  insert(seq: number, first: number, last: number, count: number): void {
    if ((this.#length + 1) * stride > this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    const late = this.#length > 0 && first < this.first(this.#length - 1);
    const at = (late ? this.position(first, seq) : this.#length) * stride;
    if (late) numbers.copyWithin(at + stride, at, this.#length * stride);
    numbers[at] = seq;
    numbers[at + 1] = first;
    numbers[at + 2] = last;
    numbers[at + 3] = count;
    this.#length++;
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

  /** Row numbers of the chunks of which one holds the newest record before a moment. */
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
}

/**
 * Where the records of each device are: an index by device and time over a tail that is in the order of commits. It is in memory only, built again
 * at start by one scan of the tail's narrow columns. What bounds it is the tail: once the tail is sealed into blocks of some hundred records,
 * it holds the chunks since a device's last sealing, and the blocks have an index on disk. Until then it costs 32 to 48 bytes a chunk.
 */
export class ChunkIndex {
  readonly #devices = new Map<DeviceKey, DeviceChunks>();
  /** The row number after the highest one. */
  next = 1;
  #size = 0;

  /** Chunks of all devices. */
  get size(): number {
    return this.#size;
  }

  get(device: DeviceKey): DeviceChunks | undefined {
    return this.#devices.get(device);
  }

  add(seq: number, device: DeviceKey, first: number, last: number, count: number): void {
    let chunks = this.#devices.get(device);
    if (chunks === undefined) {
      chunks = new DeviceChunks();
      this.#devices.set(device, chunks);
    }
    chunks.insert(seq, first, last, count);
    this.#size++;
    if (seq >= this.next) this.next = seq + 1;
  }

  /** Takes a device's chunks out of the index. */
  remove(device: DeviceKey): DeviceChunks | undefined {
    const chunks = this.#devices.get(device);
    this.#devices.delete(device);
    this.#size -= chunks?.length ?? 0;
    return chunks;
  }
}
