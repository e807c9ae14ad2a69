import { unpackBlock } from "../blocks/block.ts";
import { checksumOf, type StoredBlock } from "../blocks/layout.ts";
import { ByteSink } from "../records/sink.ts";
import type { ChunkRow } from "./chunk-rows.ts";

/** Blocks that are remembered as asked for. */
const mostAsked = 4096;

interface Unpacked {
  readonly seq: number;
  readonly checksum: number;
  readonly records: Uint8Array;
}

/**
 * Unpacked blocks, up to so many bytes: a thousand late reports into one day unpack that day once. What makes room for others is chosen by no order, since the
 * one that was used longest ago would be the next one needed where devices come in turn: a few more than there is room for would find nothing.
 */
export class BlockCache {
  readonly #most: number;
  readonly #places = new Map<number, number>();
  readonly #kept: Unpacked[] = [];
  /** Blocks that were asked for once, lately. */
  readonly #asked = new Set<number>();
  #bytes = 0;
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all that is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The records of a block, where they are kept. */
  find({ seq, data }: Pick<ChunkRow, "seq" | "data">): Uint8Array | undefined {
    const place = this.#places.get(seq);
    const kept = place === undefined ? undefined : this.#kept[place];
    return kept?.checksum === checksumOf(data) ? kept.records : undefined;
  }

  /** The records of a block, where they are kept, or where it was asked for before: then it is worth the room. Throws `BlockDamaged`. */
  ask(row: StoredBlock & Pick<ChunkRow, "seq" | "bytes">): Uint8Array | undefined {
    const kept = this.find(row);
    if (kept !== undefined || this.#most === 0) return kept;
    if (this.#asked.delete(row.seq)) return this.unpack(row);
    if (this.#asked.size >= mostAsked) this.#asked.clear();
    this.#asked.add(row.seq);
    return undefined;
  }

  /** The records of a block; they are kept from now on. Throws `BlockDamaged`. */
  unpack(row: StoredBlock & Pick<ChunkRow, "seq" | "bytes">): Uint8Array {
    const kept = this.find(row);
    if (kept !== undefined) return kept;
    const sink = new ByteSink(row.bytes);
    unpackBlock(row, sink);
    const records = sink.bytes.subarray(0, sink.length);
    this.#keep({ seq: row.seq, checksum: checksumOf(row.data), records });
    return records;
  }

  #keep(unpacked: Unpacked): void {
    this.#drop(this.#places.get(unpacked.seq));
    const { length } = unpacked.records;
    if (length > this.#most) return;
    while (this.#bytes + length > this.#most) {
      // A linear congruential generator: no order is all that is asked of it.
      this.#next = (Math.imul(this.#next, 1_664_525) + 1_013_904_223) >>> 0;
      this.#drop(Math.floor((this.#next / 2 ** 32) * this.#kept.length));
    }
    this.#places.set(unpacked.seq, this.#kept.length);
    this.#kept.push(unpacked);
    this.#bytes += length;
  }

  /** The last one takes the place of the one that goes. */
  #drop(place: number | undefined): void {
    const gone = place === undefined ? undefined : this.#kept[place];
    const last = this.#kept.at(-1);
    if (place === undefined || gone === undefined || last === undefined) return;
    this.#kept[place] = last;
    this.#places.set(last.seq, place);
    this.#kept.pop();
    this.#places.delete(gone.seq);
    this.#bytes -= gone.records.length;
  }
}
