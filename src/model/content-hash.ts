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
 * The attribute that says that a report comes from the tracker's memory. It stands last in the extras and is no part of
 * the content: a fix that was sent live and comes again from memory is a repeat.
 */
export const fromMemory = { name: "archive", json: ',"archive":"true"' } as const;
const fromMemoryBytes = new TextEncoder().encode(fromMemory.json.slice(1));
const comma = 0x2c;

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
 * 52-bit hash of all that a record says but its time, which is a key of its own: a 32-bit multiplicative hash, and 20
 * bits of a sum over its steps. The hash is one of the record as it is stored, so that whoever reads the record can
 * make it again and nobody has to store it. Two different records of one device at the same millisecond share it once
 * in billions: it tells repeats, it is no defence against forgery.
 */
export class ContentHash {
  #low = 0;
  #high = 0;

  /** `located`: none for a record without a position of its own. Its extras are the bytes [from, to) in UTF-8. */
  of(located: Located | undefined, { bytes, view }: ViewedBytes, from: number, to: number): number {
    const end = contentEnd(bytes, from, to);
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
