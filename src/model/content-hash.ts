import { firstArrival, type LocationRecord } from "./location.ts";

/** Stand for what is not a number. Small integers, so that they differ from the halves of usual doubles. */
const absent = 0x11;
const yes = 0x22;
const no = 0x33;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/** Position, speed and course as they are stored. */
export interface Located {
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

/**
 * The attribute that says that a report comes from the tracker's memory. It stands last in the extras and is no part of the content: a fix that was sent live
 * and comes again from memory is a repeat.
 */
export const fromMemory = { name: "archive", json: ',"archive":"true"' } as const;
const fromMemoryBytes = new TextEncoder().encode(fromMemory.json.slice(1));
const comma = 0x2c;

/** Where it stands in extras that earlier versions wrote: behind a comma, or as the first attribute. A quote within a text is escaped, so no text looks like this. */
const anyMark = new RegExp(`${fromMemory.json}|(?<=\\{)${fromMemory.json.slice(1)},?`);

/** Whether bytes of a record hold the mark, wherever: earlier versions counted it as content, so `contentHashOf` may give another hash than the record has. */
export function holdsMark(bytes: Uint8Array, from: number, to: number): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).includes(fromMemoryBytes);
}

/** Where the content of extras ends. */
function contentEnd(bytes: Uint8Array, from: number, to: number): number {
  const start = to - fromMemoryBytes.length;
  if (start < from) return to;
  for (let at = fromMemoryBytes.length - 1; at >= 0; at--) if (bytes[start + at] !== fromMemoryBytes[at]) return to;
  return bytes[start - 1] === comma ? start - 1 : start;
}

/** Bytes, and a view of the same bytes. */
export interface ViewedBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/**
 * 52-bit hash of all that a record says but its time, which is a key of its own: a 32-bit multiplicative hash, and 20 bits of a sum over its steps.
 * The hash is one of the record as it is stored, so that whoever reads the record can make it again and nobody has to store it.
 * Two different records of one device at the same millisecond share it once in billions: it tells repeats, it is no defence against forgery.
 */
export class ContentHash {
  #low = 0;
  #high = 0;

  /** `located`: none for a record without a position of its own. Its extras are the bytes [from, to) in UTF-8. */
  of(located: Located | undefined, viewed: ViewedBytes, from: number, to: number): number {
    return this.withMark(located, viewed, from, contentEnd(viewed.bytes, from, to));
  }

  /** The same over all extras, as earlier versions made it: where a report comes from the tracker's memory, the hash differs. */
  withMark(located: Located | undefined, { bytes, view }: ViewedBytes, from: number, end: number): number {
    this.#low = 0x27d4eb2f;
    // As a signed integer, 0x9e3779b9: one that is no small integer to the engine makes each step a floating-point one.
    this.#high = -0x61c88647;
    if (located !== undefined) {
      this.#step(located.valid ? yes : no);
      this.#value(located.latitude);
      this.#value(located.longitude);
      this.#value(located.speed);
      this.#value(located.course);
    }
    this.#step(end - from);
    let at = from;
    for (; at + 4 <= end; at += 4) this.#step(view.getInt32(at, true));
    for (; at < end; at++) this.#step(bytes[at] ?? 0);
    return this.#sum();
  }

  #step(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x5bd1e995);
    this.#low ^= this.#low >>> 15;
    this.#high = ((this.#high << 5) - this.#high + this.#low) | 0;
  }

  #value(value: number | undefined): void {
    if (value === undefined) {
      this.#step(absent);
      return;
    }
    double[0] = value;
    this.#step(halves[0] ?? 0);
    this.#step(halves[1] ?? 0);
  }

  #sum(): number {
    this.#step(this.#high);
    const high = this.#high ^ (this.#high >>> 16);
    const low = this.#low ^ (this.#low >>> 13);
    return (high & 0xfffff) * 0x1_0000_0000 + (low >>> 0);
  }
}

/** One for all: it holds nothing between two records. */
const contentHash = new ContentHash();

/** Whether the hash that a record is stored under may be one of an earlier version: it has no number, or its hash may count the mark of the tracker's memory. */
export function mayHaveOldHash({ arrival, extras }: Pick<LocationRecord, "arrival" | "extras">): boolean {
  return arrival < firstArrival || anyMark.test(extras);
}

/** The hash of what a stored record says, whatever hash an earlier version of the program stored it under. */
export function contentHashOf(record: LocationRecord): number {
  const bytes = Buffer.from(record.extras.replace(anyMark, ""));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { valid, latitude, longitude, speed, course } = record;
  const located = record.unlocated ? undefined : { valid, latitude, longitude, speed, course };
  return contentHash.of(located, { bytes, view }, 0, bytes.byteLength);
}
