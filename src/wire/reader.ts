/**
 * A bounded reader over one message. Reading past the end throws a RangeError (from the DataView, or `bytes`),
 * which `defineProtocol` answers as a malformed message; so a decoder needs no length checks of its own for truncated
 * frames.
 */
export class Reader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    if (start < 0 || end > bytes.length || start > end) throw new RangeError("reader outside its message");
    this.bytes = bytes;
    // One view bounded to `end`, so that the bytes behind it can't be read by accident.
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, end);
    this.#at = start;
    this.#end = end;
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#at;
  }

  /** Bytes that are left. */
  get remaining(): number {
    return this.#end - this.#at;
  }

  /** Moves to an offset of the message. */
  seek(offset: number): void {
    if (offset < 0 || offset > this.#end) throw new RangeError("seek outside the message");
    this.#at = offset;
  }

  skip(count: number): void {
    this.seek(this.#at + count);
  }

  peek(ahead = 0): number {
    return this.#view.getUint8(this.#at + ahead);
  }

  u8(): number {
    return this.#view.getUint8(this.#at++);
  }

  i8(): number {
    return this.#view.getInt8(this.#at++);
  }

  u16(): number {
    const value = this.#view.getUint16(this.#at);
    this.#at += 2;
    return value;
  }

  i16(): number {
    const value = this.#view.getInt16(this.#at);
    this.#at += 2;
    return value;
  }

  u24(): number {
    return this.u8() * 0x10000 + this.u16();
  }

  u32(): number {
    const value = this.#view.getUint32(this.#at);
    this.#at += 4;
    return value;
  }

  i32(): number {
    const value = this.#view.getInt32(this.#at);
    this.#at += 4;
    return value;
  }

  u48(): number {
    return this.u16() * 0x1_0000_0000 + this.u32();
  }

  /** Exact up to 2^53; larger values come as the nearest double. Use `u64Exact` where each bit counts. */
  u64(): number {
    return this.u32() * 0x1_0000_0000 + this.u32();
  }

  u64Exact(): bigint {
    const value = this.#view.getBigUint64(this.#at);
    this.#at += 8;
    return value;
  }

  i64(): number {
    return this.i32() * 0x1_0000_0000 + this.u32();
  }

  u16le(): number {
    const value = this.#view.getUint16(this.#at, true);
    this.#at += 2;
    return value;
  }

  i16le(): number {
    const value = this.#view.getInt16(this.#at, true);
    this.#at += 2;
    return value;
  }

  u24le(): number {
    return this.u16le() + this.u8() * 0x10000;
  }

  u32le(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  i32le(): number {
    const value = this.#view.getInt32(this.#at, true);
    this.#at += 4;
    return value;
  }

  /** Exact up to 2^53; larger values come as the nearest double. */
  u64le(): number {
    return this.u32le() + this.u32le() * 0x1_0000_0000;
  }

  i64le(): number {
    return this.u32le() + this.i32le() * 0x1_0000_0000;
  }

  /** Undefined: the bytes are no number (IEEE 754's NaN or an infinity). */
  f32le(): number | undefined {
    const value = this.#view.getFloat32(this.#at, true);
    this.#at += 4;
    return Number.isFinite(value) ? value : undefined;
  }

  /** Undefined: the bytes are no number. */
  f64le(): number | undefined {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return Number.isFinite(value) ? value : undefined;
  }

  /** Undefined: the bytes are no number. */
  f64(): number | undefined {
    const value = this.#view.getFloat64(this.#at);
    this.#at += 8;
    return Number.isFinite(value) ? value : undefined;
  }

  /** Undefined: the bytes are no number (IEEE 754's NaN or an infinity). */
  f32(): number | undefined {
    const value = this.#view.getFloat32(this.#at);
    this.#at += 4;
    return Number.isFinite(value) ? value : undefined;
  }

  /** A view of the next bytes, not a copy. */
  take(count: number): Uint8Array {
    if (count < 0 || count > this.remaining) throw new RangeError("take outside the message");
    const taken = this.bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }

  /** Lower-case hex of the next bytes. */
  hex(count: number): string {
    return this.take(count).toHex();
  }

  /** Latin-1 text of the next bytes. */
  latin1(count: number): string {
    return latin1Of(this.take(count));
  }
}

/** The number of two bytes at an offset, high byte first, as framers look at it; bytes beyond the end count as 0. */
export function u16At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** The same, low byte first. */
export function u16leAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Bytes of a hex text; undefined where it is not hex of whole bytes. */
export function bytesOfHex(text: string): Uint8Array | undefined {
  return text.length % 2 === 0 && /^[0-9a-f]*$/i.test(text) ? Uint8Array.fromHex(text) : undefined;
}

/** One character per byte (ISO 8859-1 as it stands: 0x80 to 0x9F are not remapped). */
export function latin1Of(bytes: Uint8Array): string {
  // The platform is three times as fast with a sentence, and slower with a few characters.
  if (bytes.length > 16) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Bytes of a text whose characters are all below 256; others become `?`. */
export function bytesOfLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    bytes[index] = code < 256 ? code : 0x3f;
  }
  return bytes;
}

/** The integer that packed BCD digits give; undefined where a nibble is no digit. */
export function bcd(bytes: Uint8Array): number | undefined {
  let value = 0;
  for (const byte of bytes) {
    const high = byte >> 4;
    const low = byte & 0x0f;
    if (high > 9 || low > 9) return undefined;
    value = value * 100 + high * 10 + low;
  }
  return value;
}

/** The digits of packed BCD, leading zeros too, as identifiers are sent; undefined where a nibble is no digit. */
export function bcdText(bytes: Uint8Array): string | undefined {
  const text = bytes.toHex();
  return /^\d*$/.test(text) ? text : undefined;
}

/** Whether bit `index` (0 is the lowest) of a value is set. */
export function bit(value: number, index: number): boolean {
  return ((value >>> index) & 1) === 1;
}
