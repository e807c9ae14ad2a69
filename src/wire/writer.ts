import { bytesOfLatin1 } from "./reader.ts";

/**
 * Builds one message, big-endian unless named otherwise; grows as needed. It has no DataView: the buffer that one needs
 * costs more than all the bytes of a reply.
 */
export class Writer {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 64) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#bytes[at] = value >> 8;
    this.#bytes[at + 1] = value;
    return this;
  }

  u32(value: number): this {
    return this.u16(value >> 16).u16(value);
  }

  /** Of larger values the lowest 16 bits. */
  u16le(value: number): this {
    const at = this.#grow(2);
    this.#bytes[at] = value;
    this.#bytes[at + 1] = value >> 8;
    return this;
  }

  /** Of larger values the lowest 32 bits; of negative ones their two's complement. */
  u32le(value: number): this {
    return this.u16le(value).u16le(value >> 16);
  }

  i32(value: number): this {
    return this.u32(value);
  }

  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value >>> 0);
  }

  raw(bytes: Uint8Array): this {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  latin1(text: string): this {
    return this.raw(bytesOfLatin1(text));
  }

  /** The message so far: a copy that later writes do not change. */
  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return at;
  }
}
