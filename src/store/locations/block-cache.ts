import { type BlockBody, decompressBlock } from "../blocks/block.ts";
import { checksumOf, type StoredBlock } from "../blocks/layout.ts";
import type { ChunkRow } from "./chunks.ts";

interface Kept {
  readonly seq: number;
  readonly checksum: number;
  readonly body: BlockBody;
}

/**
 * Keeps the bodies of blocks, up to a number of bytes, so that a thousand late reports into one day decompress that day once. A body takes a thirtieth of the memory of its
 * records, and records are found in it in 50 µs. Random bodies make room for new ones. The least recently used body would be a bad choice: where devices report in turn and
 * their blocks do not quite fit, it is the body that is needed next.
 */
export class BlockCache {
  readonly #most: number;
  readonly #places = new Map<number, number>();
  readonly #kept: Kept[] = [];
  #bytes = 0;
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all bodies that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the body of a block, or undefined when the cache does not have it. */
  find({ seq, data }: Pick<ChunkRow, "seq" | "data">): BlockBody | undefined {
    const place = this.#places.get(seq);
    const kept = place === undefined ? undefined : this.#kept[place];
    return kept?.checksum === checksumOf(data) ? kept.body : undefined;
  }

  /** Returns the body of a block, which the cache keeps from now on. Throws `BlockDamaged`. */
  body(row: StoredBlock & Pick<ChunkRow, "seq">): BlockBody {
    const known = this.find(row);
    if (known !== undefined) return known;
    const body = exactly(decompressBlock(row));
    this.#keep({ seq: row.seq, checksum: checksumOf(row.data), body });
    return body;
  }

  #keep(kept: Kept): void {
    this.#drop(this.#places.get(kept.seq));
    const { length } = kept.body.bytes;
    if (length > this.#most) return;
    while (this.#bytes + length > this.#most) {
      // A linear congruential generator is random enough for this.
      this.#next = (Math.imul(this.#next, 1_664_525) + 1_013_904_223) >>> 0;
      this.#drop(Math.floor((this.#next / 2 ** 32) * this.#kept.length));
    }
    this.#places.set(kept.seq, this.#kept.length);
    this.#kept.push(kept);
    this.#bytes += length;
  }

  /** Drops the body at a place. The last body moves to that place, so that all others stay where they are. */
  #drop(place: number | undefined): void {
    const gone = place === undefined ? undefined : this.#kept[place];
    const last = this.#kept.at(-1);
    if (place === undefined || gone === undefined || last === undefined) return;
    this.#kept[place] = last;
    this.#places.set(last.seq, place);
    this.#kept.pop();
    this.#places.delete(gone.seq);
    this.#bytes -= gone.body.bytes.length;
  }
}

/** Copies the body into a buffer of its own size: the decompressor's result may be a part of a buffer of 64 KB. */
function exactly(body: BlockBody): BlockBody {
  return { ...body, bytes: new Uint8Array(body.bytes) };
}
