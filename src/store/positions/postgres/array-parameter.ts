/** OIDs of element types (pg_type.dat). */
const oids = { bool: 16, int8: 20, text: 25, float8: 701 } as const;

const headLength = 20;
const lengthLength = 4;
const nullLength = -1;

/**
 * An array as a parameter in PostgreSQL's binary format, one-dimensional (`array_recv` in arrayfuncs.c): i32
 * dimensions, i32 whether there are nulls, u32 OID of the elements' type, i32 count, i32 lower bound; of each element
 * an i32 length, -1 for null, and its bytes. Big endian. As texts, numbers of a large batch take several times the
 * processor's time of both sides.
 */
export class ArrayParameter {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = headLength;
  #count = 0;

  /** `elements`: how many there will be, and `elementBytes`: bytes of all of them together, at most. */
  constructor(type: keyof typeof oids, elements: number, elementBytes: number) {
    this.#bytes = Buffer.allocUnsafe(headLength + lengthLength * elements + elementBytes);
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    this.#view.setInt32(0, 1);
    this.#view.setInt32(4, 0);
    this.#view.setUint32(8, oids[type]);
    this.#view.setInt32(16, 1);
  }

  null(): void {
    this.#view.setInt32(4, 1);
    this.#begin(nullLength);
  }

  bool(value: boolean): void {
    this.#begin(1);
    this.#view.setUint8(this.#at++, value ? 1 : 0);
  }

  /** A whole number that a double holds exactly. */
  int8(value: number): void {
    this.#begin(8);
    this.#view.setInt32(this.#at, Math.floor(value / 0x1_0000_0000));
    this.#view.setUint32(this.#at + 4, value >>> 0);
    this.#at += 8;
  }

  /** Undefined: null. */
  float8(value: number | undefined): void {
    if (value === undefined) {
      this.null();
      return;
    }
    this.#begin(8);
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
  }

  /** `bytes`: its length in UTF-8. */
  text(value: string, bytes: number): void {
    this.#begin(bytes);
    this.#bytes.write(value, this.#at, bytes, "utf8");
    this.#at += bytes;
  }

  /** What pg sends as it is. */
  get parameter(): Buffer {
    // Without elements an array has no dimension.
    if (this.#count === 0) this.#view.setInt32(0, 0);
    this.#view.setInt32(12, this.#count);
    return this.#bytes.subarray(0, this.#count === 0 ? 12 : this.#at);
  }

  #begin(length: number): void {
    this.#view.setInt32(this.#at, length);
    this.#at += lengthLength;
    this.#count++;
  }
}
