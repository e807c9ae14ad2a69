import type { ByteSink } from "./sink.ts";

/** The most bytes of a short piece. Wherever a piece is written, the buffer must have room for this many bytes. */
export const shortPiece = 24;

/**
 * Bytes that are written again and again, such as the keys of JSON. A short piece is written as six numbers of four
 * bytes, in a fifth of the time of a copy. That overwrites the bytes behind a shorter piece, up to `shortPiece` bytes
 * from the piece's beginning.
 */
export class Piece {
  readonly length: number;
  readonly #bytes: Uint8Array;
  readonly #first: number;
  readonly #second: number;
  readonly #third: number;
  readonly #fourth: number;
  readonly #fifth: number;
  readonly #sixth: number;

  constructor(content: string | Uint8Array) {
    const bytes = Buffer.from(content);
    const short = Buffer.alloc(shortPiece);
    bytes.copy(short);
    this.length = bytes.length;
    this.#bytes = bytes;
    this.#first = short.readInt32LE(0);
    this.#second = short.readInt32LE(4);
    this.#third = short.readInt32LE(8);
    this.#fourth = short.readInt32LE(12);
    this.#fifth = short.readInt32LE(16);
    this.#sixth = short.readInt32LE(20);
  }

  /** Writes the piece into what the sink has reserved, and returns where it ends. */
  write({ bytes, view }: ByteSink, at: number): number {
    const { length } = this;
    if (length > shortPiece) bytes.set(this.#bytes, at);
    else {
      view.setInt32(at, this.#first, true);
      view.setInt32(at + 4, this.#second, true);
      view.setInt32(at + 8, this.#third, true);
      view.setInt32(at + 12, this.#fourth, true);
      view.setInt32(at + 16, this.#fifth, true);
      view.setInt32(at + 20, this.#sixth, true);
    }
    return at + length;
  }
}
