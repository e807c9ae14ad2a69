import { RecordsDamaged } from "../damage.ts";
import type { ByteSink } from "../sink.ts";

/** The bytes of a block are damaged, or of a version that this program does not know. */
export class BlockDamaged extends RecordsDamaged {
  override readonly name = "BlockDamaged";
}

const two28 = 0x1000_0000;
/** The most bytes of a whole number. */
export const mostVarint = 8;
/**
 * Bytes of the buffers that columns of numbers share: an array with a buffer of its own takes as long to make as 300
 * numbers take to read.
 */
const roomBytes = 32 * 1024;

/** Appends a whole number from 0 to 2^53 - 1: seven bits a byte, the lowest first (LEB128). */
export function putVarint(sink: ByteSink, value: number): void {
  sink.reserve(mostVarint);
  sink.length = writeVarint(sink.bytes, sink.length, value);
}

/** Writes the same into bytes that have room for `mostVarint`. Returns where it ends. */
export function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let rest = value;
  let at = start;
  while (rest >= two28) {
    bytes[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 128) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}

/** Appends bytes after their length. */
export function putSized(sink: ByteSink, bytes: Uint8Array): void {
  putVarint(sink, bytes.byteLength);
  sink.append(bytes);
}

/** Reads a block's body from its beginning to its end. Throws `BlockDamaged` where the body ends too early. */
export class BodyReader {
  readonly bytes: Buffer;
  readonly #view: DataView;
  #room = new ArrayBuffer(0);
  #roomAt = 0;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new BlockDamaged("a block ends too early");
    return value;
  }

  float64(): number {
    if (this.at + 8 > this.bytes.length) throw new BlockDamaged("a block ends too early");
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  varint(): number {
    const { bytes } = this;
    let value = 0;
    let shift = 0;
    for (;;) {
      const byte = bytes[this.at++];
      if (byte === undefined) throw new BlockDamaged("a block ends too early");
      if (shift < 28) value |= (byte & 127) << shift;
      else value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
      shift += 7;
      if (shift > 49) throw new BlockDamaged("a number of a block is too long");
    }
  }

  /** A count of things that take at least one byte each. A count of more than the bytes that are left is damage. */
  count(): number {
    const count = this.varint();
    if (count > this.bytes.length - this.at) throw new BlockDamaged("a block counts more than it holds");
    return count;
  }

  /** Makes an array of `count` zeros. Small arrays share a buffer. */
  numbers(count: number): Float64Array {
    const length = count * Float64Array.BYTES_PER_ELEMENT;
    if (this.#roomAt + length > this.#room.byteLength) {
      this.#room = new ArrayBuffer(Math.max(length, roomBytes));
      this.#roomAt = 0;
    }
    const numbers = new Float64Array(this.#room, this.#roomAt, count);
    this.#roomAt += length;
    return numbers;
  }

  /** Reads bytes after their length. Returns a view. */
  sized(): Buffer {
    const length = this.count();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}
