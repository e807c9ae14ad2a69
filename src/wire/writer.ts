import { bytesOfLatin1 } from "./reader.ts";

/** Builds one message, big-endian unless named otherwise; grows as needed. */
export class Writer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 64) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#view.setUint16(at, value);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#view.setUint32(at, value);
    return this;
  }

  /** Of larger values the lowest 16 bits. */
  u16le(value: number): this {
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  /** Of larger values the lowest 32 bits; of negative ones their two's complement. */
  u32le(value: number): this {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  i32(value: number): this {
    const at = this.#grow(4);
    this.#view.setInt32(at, value);
    return this;
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
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}
