import type { DeviceKey } from "../../model/device.ts";
import type { Spent } from "../records/spent.ts";
import type { DamagedChunk, Link, PackerCalls, SealAnswer, WriterCalls } from "./calls.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { type ChunkPlace, type DeviceChunks, firstPlace, type Slice } from "./device-chunks.ts";
import type { Mutex } from "./mutex.ts";

/** The most chunks of one slice. */
const sliceRows = 256;

/** What replacing or deleting chunks works with. */
export interface ReplacingParts {
  readonly writer: Link<WriterCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  /** Writes what is kept of a device's state, in a turn at the writer. */
  writeState(device: DeviceKey): Promise<void>;
  /** Called when a swap or deletion fails: these chunks may be gone or not, or spent where the call would have made them so. */
  doubt(device: DeviceKey, seqs: readonly number[], spent?: Spent): void;
}

/** What sealing works with. */
export interface SealingParts extends ReplacingParts {
  readonly packer: Link<PackerCalls>;
}

/** What became of a slice. */
export interface SealedSlice {
  /** Positions in the blocks that were made. */
  readonly positions: number;
  readonly damaged: readonly DamagedChunk[];
  /** Nothing is left, or the device is gone. */
  readonly isLast: boolean;
}

const deviceGone: SealedSlice = { positions: 0, damaged: [], isLast: true };

/**
 * Seals one device: the tail, the shifts and the patches that it has when this begins. The packer packs a slice while commits go on, and the writer swaps the slice in one
 * transaction. A slice changes no record's true totals, so sealing may stop after any slice.
 */
export class DeviceSealing {
  readonly #parts: SealingParts;
  readonly #device: DeviceKey;
  readonly #chunks: DeviceChunks;
  /** Chunks, shifts and patches with a smaller row number are dealt with. */
  readonly #until: number;
  /** Event time from which on shifts and patches are folded in. Undefined when there are none, so that only the tail is sealed. */
  readonly #since: number | undefined;
  #place: ChunkPlace = firstPlace;

  private constructor(parts: SealingParts, device: DeviceKey, chunks: DeviceChunks, until: number) {
    const { shifts, patches } = chunks;
    this.#parts = parts;
    this.#device = device;
    this.#chunks = chunks;
    this.#until = until;
    const folds = shifts.count > 0 || patches.count > 0;
    this.#since = folds ? Math.min(shifts.since, patches.since, chunks.firstOpen()) : undefined;
  }

  /** Begins in a turn at the writer. */
  static begin(parts: SealingParts, device: DeviceKey, chunks: DeviceChunks): Promise<DeviceSealing> {
    return parts.turns.run(async () => {
      // Before a number is taken: rows of a commit or swap that was not answered are looked for from `index.next` on.
      await parts.settle();
      chunks.sealing = true;
      // Takes a row number of its own: the shifts and patches known now have lower ones, and those of later commits higher ones.
      return new DeviceSealing(parts, device, chunks, parts.index.next++);
    });
  }

  /** Seals the next slice. */
  async next(): Promise<SealedSlice> {
    if (this.#isGone) return deviceGone;
    const slice = this.#slice(sliceRows);
    if (slice.seqs.length === 0) return this.#last(0, []);
    const everything = this.#since !== undefined;
    const request = { device: this.#device, seqs: slice.seqs, until: this.#until, everything };
    const answer = await this.#parts.packer.call("seal", request);
    const positions = await this.#parts.turns.run(() => this.#swap(slice, answer));
    const damaged = answer?.damaged ?? [];
    if (this.#isGone) return { ...deviceGone, damaged };
    this.#place = placeOf(slice, answer?.taken ?? 0);
    const isLast = this.#slice(1).seqs.length === 0;
    return isLast ? this.#last(positions, damaged) : { positions, damaged, isLast };
  }

  /** From now on commits may change the chunks of the tail again. */
  end(): void {
    this.#chunks.sealing = false;
  }

  get #isGone(): boolean {
    return this.#parts.index.get(this.#device) !== this.#chunks;
  }

  #slice(rows: number): Slice {
    return this.#chunks.slice(this.#place, this.#until, rows, this.#since ?? "next open");
  }

  async #last(positions: number, damaged: readonly DamagedChunk[]): Promise<SealedSlice> {
    if (this.#since !== undefined) await this.#parts.turns.run(() => this.#forget());
    this.#chunks.left = this.#chunks.tailBefore(this.#until);
    return { positions, damaged, isLast: true };
  }

  /** In a turn at the writer: puts blocks in the place of the chunks that they were made of. Returns how many positions the blocks have. */
  async #swap({ seqs }: Slice, answer: SealAnswer | undefined): Promise<number> {
    if (answer?.seqs.length === 0 && answer.lifts.length === 0) return 0;
    await this.#parts.settle();
    if (this.#isGone) return 0;
    await this.#parts.writeState(this.#device);
    const { index, writer } = this.#parts;
    const seq = index.next;
    const { blocks, lifts, seqs: replaced } = answer ?? { blocks: [], lifts: new Float64Array(0), seqs };
    const old = new Set(replaced);
    const spent = index.spent?.after(this.#device, this.#chunks, old);
    const request = { device: this.#device, seq, until: this.#until, seqs: replaced, blocks, lifts, spent };
    try {
      if (answer === undefined || !(await writer.call("swap", request)))
        throw new Error(`chunks of device ${this.#device} are missing`);
    } catch (error) {
      this.#parts.doubt(this.#device, replaced, spent);
      throw error;
    }
    if (spent !== undefined) index.spent?.sealed(this.#device, spent, this.#chunks, old);
    const made = blocks.map(({ data: _, ...block }, at) => ({ seq: seq + at, ...block, sealed: true }));
    index.replace(this.#device, this.#chunks, old, made);
    return made.reduce((sum, { count }) => sum + count, 0);
  }

  async #forget(): Promise<void> {
    const left = await this.#parts.writer.call("forget", { device: this.#device, seq: this.#until });
    this.#chunks.shifts = left.shifts;
    this.#chunks.patches = left.patches;
  }
}

/** The place of the last chunk that was dealt with. */
function placeOf({ seqs, firsts }: Slice, taken: number): ChunkPlace {
  const last = Math.max(1, taken) - 1;
  return { first: firsts[last] ?? 0, seq: seqs[last] ?? 0 };
}
