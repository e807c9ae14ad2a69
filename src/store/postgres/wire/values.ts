/*
 * Values in PostgreSQL's binary form (https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES, and the `_send` functions of its types). `pg` would send
 * arrays as text, with two characters for each byte of a bytea.
 */

/** A parameter of a statement. */
export interface Value {
  /** Its length without the length field, bytes. */
  readonly size: number;
  write(to: Buffer, at: number): void;
}

/** OIDs of types (pg_type.dat). */
const types = { bytes: 17, int: 20, text: 25 } as const;

const two32 = 2 ** 32;
/** The largest value of a bigint. */
const most = 2 ** 63 - 2 ** 10;

/** Writes a whole number as a bigint. One that is out of range is written as the nearest bigint. */
function writeInt(to: Buffer, value: number, at: number): void {
  const whole = Math.max(-most, Math.min(most, Math.trunc(value)));
  to.writeInt32BE(Math.floor(whole / two32), at);
  to.writeInt32BE(whole | 0, at + 4);
}

/** Reads a bigint. One that a JavaScript number can't hold exactly is rounded. */
function readInt(from: Buffer, at: number): number {
  return from.readInt32BE(at) * two32 + from.readUInt32BE(at + 4);
}

/** A bigint. */
export function int(value: number): Value {
  return { size: 8, write: (to, at) => writeInt(to, value, at) };
}

/** Text in UTF-8. */
export function text(value: string): Value {
  return { size: Buffer.byteLength(value), write: (to, at) => void to.write(value, at) };
}

/** Bytes as they are. They are copied when the statement is sent. */
export function bytes(value: Uint8Array): Value {
  return { size: value.byteLength, write: (to, at) => to.set(value, at) };
}

/** Bytes before the items of an array of one dimension: number of dimensions, whether there are nulls, type, number of items, index of the first. */
const arrayHead = 20;

function writeHead(to: Buffer, at: number, type: number, count: number): void {
  to.writeInt32BE(1, at);
  to.writeInt32BE(0, at + 4);
  to.writeInt32BE(type, at + 8);
  to.writeInt32BE(count, at + 12);
  to.writeInt32BE(1, at + 16);
}

/** An array of bigint. */
export function ints(values: readonly number[]): Value {
  return {
    size: arrayHead + values.length * 12,
    write: (to, start) => {
      writeHead(to, start, types.int, values.length);
      let at = start + arrayHead;
      for (const value of values) {
        to.writeInt32BE(8, at);
        writeInt(to, value, at + 4);
        at += 12;
      }
    },
  };
}

/** An array of bytea. */
export function manyBytes(values: readonly Uint8Array[]): Value {
  return {
    size: values.reduce((sum, { byteLength }) => sum + 4 + byteLength, arrayHead),
    write: (to, start) => {
      writeHead(to, start, types.bytes, values.length);
      let at = start + arrayHead;
      for (const value of values) {
        to.writeInt32BE(value.byteLength, at);
        to.set(value, at + 4);
        at += 4 + value.byteLength;
      }
    },
  };
}

/** An array of texts. */
export function texts(values: readonly string[]): Value {
  const all = manyBytes(values.map((value) => Buffer.from(value)));
  return {
    size: all.size,
    write: (to, at) => {
      all.write(to, at);
      to.writeInt32BE(types.text, at + 8);
    },
  };
}

/** The columns of a row one after the other. */
export class Row {
  readonly #bytes: Buffer;
  #at = 2;

  /** `bytes`: what a DataRow message holds. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next column, a bigint. Null is read as 0. */
  int(): number {
    const size = this.#size();
    const at = this.#at;
    if (size < 0) return 0;
    this.#at += size;
    if (size === 8) return readInt(this.#bytes, at);
    if (size === 4) return this.#bytes.readInt32BE(at);
    throw new TypeError(
      `the server sent a number of ${size} bytes in place of 8: look whether a column of a table was given another type`,
    );
  }

  /** The next column, a bigint or null. */
  maybeInt(): number | null {
    return this.#bytes.readInt32BE(this.#at) < 0 ? this.#none() : this.int();
  }

  #none(): null {
    this.#at += 4;
    return null;
  }

  /** A copy of the next column's bytes, which keeps nothing else in memory. Undefined for null. */
  bytes(): Uint8Array<ArrayBuffer> | undefined {
    const size = this.#size();
    if (size < 0) return undefined;
    const at = this.#at;
    this.#at += size;
    return new Uint8Array(this.#bytes.subarray(at, this.#at));
  }

  /** The next column as text. Undefined for null. */
  text(): string | undefined {
    const size = this.#size();
    if (size < 0) return undefined;
    const at = this.#at;
    this.#at += size;
    return this.#bytes.toString("utf8", at, this.#at);
  }

  #size(): number {
    const size = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    return size;
  }
}
