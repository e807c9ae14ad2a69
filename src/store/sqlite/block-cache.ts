import { unpackBlock } from "../blocks/block.ts";
import { checksumOf, type StoredBlock } from "../blocks/layout.ts";
import type { ChunkRow } from "./chunk-rows.ts";

/** The most row numbers that `#asked` holds. */
const mostAsked = 4096;

interface Unpacked {
  readonly seq: number;
  readonly checksum: number;
  readonly records: Uint8Array;
}

/**
 * Keeps unpacked blocks, up to a number of bytes: a thousand late reports into one day then unpack that day once. Random blocks make room for new ones. The least recently
 * used block would be a bad choice: where devices report in turn and their blocks do not quite fit, it is the very block that is needed next.
 */
export class BlockCache {
  readonly #most: number;
  readonly #places = new Map<number, number>();
  readonly #kept: Unpacked[] = [];
  /** Row numbers of blocks that were asked for once, recently. */
  readonly #asked = new Set<number>();
  #bytes = 0;
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all records that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The records of a block. Undefined: they are not kept. */
  find({ seq, data }: Pick<ChunkRow, "seq" | "data">): Uint8Array | undefined {
    const place = this.#places.get(seq);
    const kept = place === undefined ? undefined : this.#kept[place];
    return kept?.checksum === checksumOf(data) ? kept.records : undefined;
  }

  /** The records of a block. If the block is not kept, the first call remembers it and returns undefined, and the second call unpacks and keeps it. Throws `BlockDamaged`. */
  ask(row: StoredBlock & Pick<ChunkRow, "seq" | "bytes">): Uint8Array | undefined {
    const kept = this.find(row);
    if (kept !== undefined || this.#most === 0) return kept;
    if (this.#asked.delete(row.seq)) return this.#unpack(row);
    if (this.#asked.size >= mostAsked) this.#asked.clear();
    this.#asked.add(row.seq);
    return undefined;
  }

  /** The records of a block; they are kept from now on. Throws `BlockDamaged`. */
  unpack(row: StoredBlock & Pick<ChunkRow, "seq" | "bytes">): Uint8Array {
    return this.find(row) ?? this.#unpack(row);
  }

  #unpack(row: StoredBlock & Pick<ChunkRow, "seq" | "bytes">): Uint8Array {
    const records = unpackBlock(row, row.bytes);
    this.#keep({ seq: row.seq, checksum: checksumOf(row.data), records });
    return records;
  }

  #keep(unpacked: Unpacked): void {
    this.#drop(this.#places.get(unpacked.seq));
    const { length } = unpacked.records;
    if (length > this.#most) return;
    while (this.#bytes + length > this.#most) {
      // A linear congruential generator is random enough for this.
      this.#next = (Math.imul(this.#next, 1_664_525) + 1_013_904_223) >>> 0;
      this.#drop(Math.floor((this.#next / 2 ** 32) * this.#kept.length));
    }
    this.#places.set(unpacked.seq, this.#kept.length);
    this.#kept.push(unpacked);
    this.#bytes += length;
  }

  /** Drops the block at a place. The last block takes that place, so that no other moves. */
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
