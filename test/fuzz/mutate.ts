/** Numbers that follow from a seed (mulberry32): the same seed gives the same inputs on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 0x1_0000_0000) * limit);
  }

  of<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }
}

/** A change to bytes, perhaps with bytes of another message. */
type Mutation = (bytes: Uint8Array, other: Uint8Array, random: Random) => Uint8Array;

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Bytes that mean something to many protocols: ends of ranges, delimiters, escapes. */
const tellingBytes = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0d, 0x0a, 0x2c, 0x3b, 0x23, 0x24, 0x28, 0x29, 0x2a, 0x7e, 0x7d];
const tellingTexts = ["-", "NaN", "1e999", "99999999999999999999", "", "0x", "é", "\u0000", "-0", ",,,,", "*", ";;;;"];

const mutations: readonly Mutation[] = [
  function flipBit(bytes, _other, random) {
    const changed = bytes.slice();
    const at = random.below(bytes.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    return changed;
  },
  function tellingByte(bytes, _other, random) {
    const changed = bytes.slice();
    changed[random.below(bytes.length)] = random.of(tellingBytes) ?? 0;
    return changed;
  },
  function truncate(bytes, _other, random) {
    return bytes.slice(0, random.below(bytes.length));
  },
  function splice(bytes, other, random) {
    return joined(bytes.subarray(0, random.below(bytes.length)), other.subarray(random.below(other.length)));
  },
  function repeat(bytes, _other, random) {
    const from = random.below(bytes.length);
    const part = bytes.subarray(from, from + 1 + random.below(16));
    const times = 1 + random.below(random.below(8) === 0 ? 200 : 8);
    return joined(bytes.subarray(0, from), ...Array.from({ length: times }, () => part), bytes.subarray(from));
  },
  function remove(bytes, _other, random) {
    const from = random.below(bytes.length);
    return joined(bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(8)));
  },
  /** A number of one, two or four bytes that may be a length, told as another one. */
  function lieOfLength(bytes, _other, random) {
    const changed = bytes.slice();
    const width = random.of([1, 2, 4]) ?? 1;
    const value = random.of([
      0,
      1,
      bytes.length,
      bytes.length * 2,
      0x7f,
      0xff,
      0x7fff,
      0xffff,
      0x7fff_ffff,
      0xffff_ffff,
    ]);
    const little = random.below(2) === 0;
    const at = random.below(bytes.length);
    for (let index = 0; index < width && at + index < changed.length; index++)
      changed[at + index] = (value ?? 0) >>> (8 * (little ? index : width - 1 - index));
    return changed;
  },
  /** A field between two delimiters becomes another text. */
  function otherField(bytes, _other, random) {
    const delimiters = [0x2c, 0x3b, 0x7c, 0x3d, 0x26];
    const places = [...bytes.keys()].filter((at) => delimiters.includes(bytes[at] ?? 0));
    const at = random.of(places);
    if (at === undefined) return bytes;
    const end = places.find((place) => place > at) ?? bytes.length;
    const text = new TextEncoder().encode(random.of(tellingTexts) ?? "");
    return joined(bytes.subarray(0, at + 1), text, bytes.subarray(end));
  },
  function twice(bytes, other) {
    return joined(bytes, other);
  },
];

/** A message that was changed once to four times. */
export function mutate(corpus: readonly Uint8Array[], random: Random): Uint8Array {
  let bytes = random.of(corpus) ?? new Uint8Array(0);
  for (let left = 1 + random.below(4); left > 0 && bytes.length > 0; left--) {
    const other = random.of(corpus) ?? bytes;
    bytes = random.of(mutations)?.(bytes, other, random) ?? bytes;
    if (bytes.length > 64 * 1024) bytes = bytes.slice(0, 64 * 1024);
  }
  return bytes;
}
