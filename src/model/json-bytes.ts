/** Most bytes that `writeNumber` writes: a sign, 17 digits, a point and leading zeros or an exponent. */
export const longestNumber = 32;

const zero = 0x30;
const minus = 0x2d;
const point = 0x2e;
const quote = 0x22;
const backslash = 0x5c;

/** Whether a character stands for itself in a JSON string, in one byte. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code < 0x7f && code !== quote && code !== backslash;
}

/**
 * Writes a finite number as `String(value)` prints it, and returns where it ends; there must be room for
 * `longestNumber`. Numbers of the field are whole or have few decimals, and those are written without making a string
 * of them: in history and on the way in, that is most of the work.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0) {
    bytes[at] = minus;
    return writeMagnitude(bytes, at + 1, -value);
  }
  return writeMagnitude(bytes, at, value);
}

function writeMagnitude(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x7fff_ffff) {
    const whole = value | 0;
    if (whole === value) return writeDigits(bytes, at, whole, digitsOf(whole));
    // Two decimals of up to 15 digits are never the same double, so where this one is the value it is its shortest
    // form. Smaller ones have an exponent.
    if (value < 200 && value >= 1e-6) {
      const scaled = Math.round(value * 1e7);
      if (scaled / 1e7 === value) return writeDecimals(bytes, at, whole, scaled, 7);
    } else if (value < 2_000_000 && value >= 1) {
      const scaled = Math.round(value * 1000);
      if (scaled / 1000 === value) return writeDecimals(bytes, at, whole, scaled, 3);
    }
  }
  return writeAscii(bytes, at, String(value));
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}

/** Writes a whole number with this many digits, with leading zeros. Returns where it ends. */
function writeDigits(bytes: Uint8Array, at: number, value: number, digits: number): number {
  let rest = value;
  let index = at + digits;
  // Two digits for each division, because a division waits for the one before.
  while (index > at + 1) {
    const next = (rest / 100) | 0;
    const two = rest - next * 100;
    const ten = (two / 10) | 0;
    bytes[--index] = zero + two - ten * 10;
    bytes[--index] = zero + ten;
    rest = next;
  }
  if (index > at) bytes[at] = zero + rest;
  return at + digits;
}

/** Writes the number `scaled` / 10^`decimals` without trailing zeros. `whole`: the number's whole part. */
function writeDecimals(bytes: Uint8Array, at: number, whole: number, scaled: number, decimals: 3 | 7): number {
  let fraction = (scaled - whole * (decimals === 7 ? 1e7 : 1000)) | 0;
  let digits = decimals;
  for (let next = (fraction / 10) | 0; next * 10 === fraction; next = (fraction / 10) | 0) {
    fraction = next;
    digits--;
  }
  const end = writeDigits(bytes, at, whole, digitsOf(whole));
  bytes[end] = point;
  return writeDigits(bytes, end + 1, fraction, digits);
}

/** Writes text of characters below 128, and returns where it ends. */
function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/** Size of a text's buffer at first. Longer texts grow it, for one text only. */
const usualSize = 16 * 1024;

/**
 * JSON text that is put together of many small pieces and taken as one flat string. A string that grows by `+=` is a
 * tree of its pieces until somebody reads it: for a location 1.7 KB instead of 0.2, by measurement, which the garbage
 * collector copies as long as the location waits for its commit.
 */
export class JsonText {
  #bytes = Buffer.alloc(usualSize);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** What it holds, as bytes: to be read until something is appended. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** A view of the same bytes. */
  get view(): DataView {
    return this.#view;
  }

  get length(): number {
    return this.#length;
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  /** Appends bytes that are JSON: of `pieceOf`, or of another text. */
  piece(piece: Uint8Array): void {
    const { length } = piece;
    const at = this.#length;
    if (at + length > this.#bytes.length) this.#grow(at + length);
    const bytes = this.#bytes;
    for (let index = 0; index < length; index++) bytes[at + index] = piece[index] ?? 0;
    this.#length = at + length;
  }

  /** Appends a finite number. */
  number(value: number): void {
    const at = this.#length;
    if (at + longestNumber > this.#bytes.length) this.#grow(at + longestNumber);
    this.#length = writeNumber(this.#bytes, at, value);
  }

  /** Appends a finite number as a string, in quotes. */
  quotedNumber(value: number): void {
    const at = this.#length;
    if (at + longestNumber + 2 > this.#bytes.length) this.#grow(at + longestNumber + 2);
    const bytes = this.#bytes;
    bytes[at] = quote;
    const end = writeNumber(bytes, at + 1, value);
    bytes[end] = quote;
    this.#length = end + 1;
  }

  /** Appends a string in quotes, with what must be escaped. */
  string(text: string): void {
    let at = this.#length;
    if (at + text.length + 2 > this.#bytes.length) this.#grow(at + text.length + 2);
    const bytes = this.#bytes;
    bytes[at++] = quote;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (!isPlain(code)) {
        this.#escaped(text);
        return;
      }
      bytes[at++] = code;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  /** Appends what another text holds, from its byte `from` on. */
  append(other: JsonText, from: number): void {
    const length = other.#length - from;
    if (this.#length + length > this.#bytes.length) this.#grow(this.#length + length);
    other.#bytes.copy(this.#bytes, this.#length, from, other.#length);
    this.#length += length;
  }

  /** Empties it. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > usualSize) this.#use(Buffer.alloc(usualSize));
  }

  /** All of it as a string; it is empty then. */
  take(): string {
    const text = this.#bytes.toString("utf8", 0, this.#length);
    this.clear();
    return text;
  }

  #escaped(text: string): void {
    const json = JSON.stringify(text);
    // Three bytes of UTF-8 for a UTF-16 unit at most.
    const needed = this.#length + json.length * 3;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#length += this.#bytes.write(json, this.#length, "utf8");
  }

  #grow(needed: number): void {
    const grown = Buffer.alloc(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#use(grown);
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf(bytes: Buffer<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** JSON as bytes, to be made once for what is written often. */
export function pieceOf(json: string): Uint8Array {
  return Buffer.from(json);
}
