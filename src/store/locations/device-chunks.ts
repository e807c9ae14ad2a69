import type { OldPositions } from "../../ports/retention.ts";
import { isFull, mostSeq } from "./sizes.ts";

/** Numbers of one entry: seq, first, last, count, bytes, and 1 for a block, 0 for a chunk of the tail. */
const stride = 6;

/** A chunk of the tail, or a block. */
export interface Chunk {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Bytes of its records before packing. */
  readonly bytes: number;
  /** It is a block. */
  readonly sealed?: boolean;
}

/** A chunk with its row number. */
export interface PlacedChunk extends Chunk {
  readonly seq: number;
}

/** Shifts or patches that are not yet folded into a device's chunks: how many, and the event time from which on they concern records. */
export interface Waiting {
  readonly count: number;
  readonly since: number;
}

/** The time from a moment until the next chunk begins or ends. */
export interface Gap {
  readonly from: number;
  readonly until: number;
  /** About how many records the chunks that reach over it have there, each ms. */
  readonly density: number;
}

/** What a device without old chunks has. */
export const nothingOld: OldPositions = Object.freeze({ count: 0, from: 0, to: 0, keptFrom: 0 });
const nothingWaits: Waiting = { count: 0, since: Number.POSITIVE_INFINITY };

/** How many chunks there are, and how many records and bytes these have. */
export interface Amount {
  chunks: number;
  records: number;
  bytes: number;
}

/** Successive chunks of a device. */
export interface Slice {
  readonly seqs: readonly number[];
  /** Event time of each chunk's first record. */
  readonly firsts: readonly number[];
}

/** Chunks that may be deleted: see `OldChunks`. */
export interface Old {
  /** Row numbers of the first ones, and how many records these have. */
  readonly seqs: readonly number[];
  readonly count: number;
  /** Of the wholly old chunks, the one that ends last. It stays. */
  readonly stays: number;
  /** What all chunks that may be deleted hold. */
  readonly positions: OldPositions;
}

/** The chunks of one device, by (first, seq), in one typed array of 48 bytes a chunk. */
export class DeviceChunks {
  #numbers = new Float64Array(2 * stride);
  #length = 0;
  /** Longest time from a chunk's first to its last record: a chunk that begins earlier than that before a moment can't reach the moment. */
  #longest = 0;
  /** The highest row number that a chunk ever had here. An impossible one, of a damaged row, does not count. */
  highest = 0;
  /** No chunk ends later. */
  #latest = Number.NEGATIVE_INFINITY;
  #replaced = 0;
  /** Chunks of the tail. */
  readonly tail: Amount = { chunks: 0, records: 0, bytes: 0 };
  /** Blocks that are not full. */
  #small = 0;
  /** Shifts and patches that are not yet folded into all chunks that they concern. */
  shifts = nothingWaits;
  patches = nothingWaits;
  /** The tail that the last sealing of the device left. The device is sealed again when its tail has grown by enough. */
  left: Readonly<Amount> = { chunks: 0, records: 0, bytes: 0 };
  /** The device is being sealed. Until that ends, no commit changes its chunks. */
  sealing = false;

  get length(): number {
    return this.#length;
  }

  /** How often chunks were replaced. Indexes of chunks that were found before are wrong afterwards. */
  get replaced(): number {
    return this.#replaced;
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

  isSealed(index: number): boolean {
    return this.#numbers[index * stride + 5] === 1;
  }

  /** Whether a chunk is to be sealed: it is of the tail, or a block that is not full. */
  #isOpen(index: number): boolean {
    return !this.isSealed(index) || !isFull(this.count(index), this.bytes(index));
  }

  /** Adds a chunk to the counts, or with the sign -1 takes it from them. */
  #tally(index: number, sign: 1 | -1): void {
    if (this.isSealed(index)) {
      if (this.#isOpen(index)) this.#small += sign;
      return;
    }
    this.tail.chunks += sign;
    this.tail.records += sign * this.count(index);
    this.tail.bytes += sign * this.bytes(index);
  }

  insert(seq: number, first: number, last: number, count: number, bytes: number, sealed = false): void {
    if ((this.#length + 1) * stride > this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    const late = this.#length > 0 && this.#isBeforeLast(first, seq);
    const at = (late ? this.position(first, seq) : this.#length) * stride;
    if (late) numbers.copyWithin(at + stride, at, this.#length * stride);
    numbers[at] = seq;
    numbers[at + 1] = first;
    numbers[at + 2] = last;
    numbers[at + 3] = count;
    numbers[at + 4] = bytes;
    numbers[at + 5] = sealed ? 1 : 0;
    this.#length++;
    this.#tally(at / stride, 1);
    if (seq > this.highest && seq < mostSeq) this.highest = seq;
    if (last - first > this.#longest) this.#longest = last - first;
    if (last > this.#latest) this.#latest = last;
  }

  #isBeforeLast(first: number, seq: number): boolean {
    const last = this.#length - 1;
    return first < this.first(last) || (first === this.first(last) && seq < this.seq(last));
  }

  #grow(): void {
    // By half, in whole entries: idle devices should not hold twice what they need.
    this.reserve(Math.ceil(this.#length * 0.5) + 2);
  }

  /** Makes room for more chunks at once: arrays that grow with each chunk leave many times the memory behind. */
  reserve(more: number): void {
    const entries = this.#length + more;
    if (entries * stride <= this.#numbers.length) return;
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

  /** Index of the first chunk that may reach a moment. */
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

  /** Row numbers of all chunks that overlap a moment, in portions of at most `records` records. A chunk that has more is a portion of its own. */
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

  /** Row numbers of all chunks that may hold the device's newest record before a moment. */
  newestBefore(time: number): number[] {
    let newest = Number.NEGATIVE_INFINITY;
    // From the last chunk backwards: once a record before the moment is known, only chunks that may hold a newer record matter.
    const seqs: { readonly seq: number; readonly last: number }[] = [];
    for (let index = this.position(time, 0) - 1; index >= 0; index--) {
      if (this.first(index) + this.#longest < newest) break;
      const last = this.last(index);
      // Of a chunk that reaches the moment, only the first record is known to be before it.
      const known = last < time ? last : this.first(index);
      if (known > newest) newest = known;
      if (last >= newest) seqs.push({ seq: this.seq(index), last });
    }
    return seqs.filter(({ last }) => last >= newest).map(({ seq }) => seq);
  }

  /** Whether some chunk that overlaps the range (inclusive) is a block. */
  hasSealed(from: number, to: number): boolean {
    for (let index = this.reaching(from); index < this.#length && this.first(index) <= to; index++)
      if (this.last(index) >= from && this.isSealed(index)) return true;
    return false;
  }

  /** What lies behind a moment. */
  gapAfter(time: number): Gap {
    let [until, density] = [Number.POSITIVE_INFINITY, 0];
    if (this.#latest <= time) return { from: time, until, density };
    let index = this.reaching(time);
    for (; index < this.#length && this.first(index) <= time; index++) {
      const last = this.last(index);
      if (last <= time) continue;
      until = Math.min(until, last);
      density += this.count(index) / (last - this.first(index));
    }
    if (index < this.#length) until = Math.min(until, this.first(index));
    return { from: time, until, density };
  }

  /** Counts the tail's chunks with row numbers smaller than `until`. */
  tailBefore(until: number): Amount {
    const amount = { chunks: 0, records: 0, bytes: 0 };
    for (let index = 0; index < this.#length; index++) {
      if (this.isSealed(index) || this.seq(index) >= until) continue;
      amount.chunks++;
      amount.records += this.count(index);
      amount.bytes += this.bytes(index);
    }
    return amount;
  }

  /** Returns the event time at which the first chunk to be sealed begins, or infinity when there is none. */
  firstOpen(): number {
    const some = this.tail.chunks > 0 || this.#small > 0;
    return some ? this.#nextOpen(0, Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  }

  /**
   * Returns up to `rows` successive chunks behind a place, with row numbers smaller than `until`. `from`: chunks that end before this event time are left out. "next open" stands
   * for the time at which the next chunk to be sealed begins.
   */
  slice({ first, seq }: ChunkPlace, until: number, rows: number, from: number | "next open"): Slice {
    const begin = this.position(first, seq + 1);
    const reaching = from === "next open" ? this.#nextOpen(begin, until) : from;
    let index = Math.max(begin, this.reaching(reaching));
    const slice = { seqs: [] as number[], firsts: [] as number[] };
    for (; index < this.#length && slice.seqs.length < rows; index++) {
      if (this.last(index) < reaching || this.seq(index) >= until) continue;
      slice.seqs.push(this.seq(index));
      slice.firsts.push(this.first(index));
    }
    return slice;
  }

  /** Returns the event time at which the first chunk to be sealed from an index on begins, or infinity when there is none. `until`: as in `slice`. */
  #nextOpen(from: number, until: number): number {
    for (let index = from; index < this.#length; index++)
      if (this.#isOpen(index) && this.seq(index) < until) return this.first(index);
    return Number.POSITIVE_INFINITY;
  }

  /** Chunks that may be deleted because all of their records are from before an event time: the first `rows` of them, and what all of them hold. `damaged`: row numbers of chunks to leave alone. */
  old(before: number, rows: number, damaged: ReadonlySet<number>): Old {
    const end = this.position(before, 0);
    let [newest, stays] = [Number.NEGATIVE_INFINITY, 0];
    for (let index = 0; index < end; index++) {
      const last = this.last(index);
      if (last < before && last > newest && !damaged.has(this.seq(index))) [newest, stays] = [last, this.seq(index)];
    }
    let [count, all, from, to] = [0, 0, Number.POSITIVE_INFINITY, 0];
    const seqs: number[] = [];
    for (let index = 0; index < end; index++) {
      const last = this.last(index);
      // A damaged row may give impossible times. Nothing is deleted for these.
      if (last >= newest || this.first(index) > last || this.seq(index) === this.highest) continue;
      if (damaged.has(this.seq(index))) continue;
      all += this.count(index);
      from = Math.min(from, this.first(index));
      to = Math.max(to, last);
      if (seqs.length >= rows) continue;
      seqs.push(this.seq(index));
      count += this.count(index);
    }
    const positions = all === 0 ? nothingOld : { count: all, from, to, keptFrom: newest + 1 };
    return { seqs, count, stays, positions };
  }

  /** The chunks of the tail. */
  *tailRows(): Generator<Pick<PlacedChunk, "seq" | "bytes">> {
    for (let index = 0, left = this.tail.chunks; left > 0 && index < this.#length; index++) {
      if (this.isSealed(index)) continue;
      left--;
      yield { seq: this.seq(index), bytes: this.bytes(index) };
    }
  }

  /** The chunk with a row number, if it is here. */
  find(seq: number): PlacedChunk | undefined {
    for (let index = 0; index < this.#length; index++)
      if (this.seq(index) === seq)
        return {
          seq,
          first: this.first(index),
          last: this.last(index),
          count: this.count(index),
          bytes: this.bytes(index),
        };
    return undefined;
  }

  /** Row numbers of the last `limit` chunks. */
  newest(limit: number): number[] {
    const seqs: number[] = [];
    for (let index = Math.max(0, this.#length - limit); index < this.#length; index++) seqs.push(this.seq(index));
    return seqs;
  }

  /** Forgets the last `count` chunks. */
  removeNewest(count: number): void {
    for (let left = Math.min(count, this.#length); left > 0; left--) this.#tally(--this.#length, -1);
  }

  #longestNow(): number {
    let longest = 0;
    for (let index = 0; index < this.#length; index++)
      longest = Math.max(longest, this.last(index) - this.first(index));
    return longest;
  }

  /** Replaces chunks by others. */
  replace(seqs: ReadonlySet<number>, chunks: readonly PlacedChunk[]): void {
    const numbers = this.#numbers;
    let [index, to, longest] = [0, 0, 0];
    // A device may have a hundred thousand chunks, so one call moves all chunks behind the last one that goes.
    for (let left = seqs.size; index < this.#length && left > 0; index++) {
      if (seqs.has(this.seq(index))) {
        left--;
        this.#tally(index, -1);
        longest = Math.max(longest, this.last(index) - this.first(index));
        continue;
      }
      if (to < index) numbers.copyWithin(to * stride, index * stride, (index + 1) * stride);
      to++;
    }
    numbers.copyWithin(to * stride, index * stride, this.#length * stride);
    this.#length -= index - to;
    if (longest === this.#longest) this.#longest = this.#longestNow();
    const needed = (this.#length + chunks.length + 2) * stride;
    if (numbers.length > 1.5 * needed) this.#numbers = numbers.slice(0, needed);
    for (const { seq, first, last, count, bytes, sealed } of chunks)
      this.insert(seq, first, last, count, bytes, sealed);
    this.#replaced++;
  }
}

/** A chunk's place among the chunks of its device. */
export interface ChunkPlace {
  readonly first: number;
  readonly seq: number;
}

/** Before all chunks. */
export const firstPlace: ChunkPlace = { first: Number.NEGATIVE_INFINITY, seq: 0 };
