import type { DeviceKey } from "../../model/device.ts";
import { byPlace, type RecordPlace } from "../../model/location.ts";
import { packBlock, unpackBlock } from "../blocks/block.ts";
import { checkRow, wholeRecords } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import type { DamagedChunk, PackedBlock, SealAnswer, SealRequest } from "./calls.ts";
import type { ChunkHead, ChunkRow, ChunksFound } from "./chunks.ts";
import { type Candidate, planSealing } from "./sealing-plan.ts";
import { blockBytes, blockRecords } from "./sizes.ts";

/** How much a slice packs. It takes some 40 ms of this thread, for which nobody waits, and a few ms of the writer. */
const most = { records: 4 * blockRecords, bytes: 2 * 1024 * 1024 };

/** A record on its way into a block. */
interface Moving extends RecordPlace {
  readonly at: number;
}

/** What is to be sealed of some chunks. */
export interface SealPlan {
  readonly found: ChunksFound<ChunkHead>;
  /** See `SealAnswer`. */
  readonly taken: number;
  /** Chunks that become blocks together. */
  readonly runs: readonly (readonly ChunkHead[])[];
  /** Blocks that stay and are lifted. */
  readonly lifts: readonly ChunkHead[];
}

/** Decides what is to be sealed of a request's chunks. `found`: these, with patches up to the row number `until`. */
export function planSeal(found: ChunksFound<ChunkHead>, { until, everything }: SealRequest): SealPlan {
  return { found, ...planSealing(candidatesOf(found, until), everything, most) };
}

/** Packs records of chunks into blocks, in order, with shifts and patches folded in. */
export class Packing {
  readonly #records = new ByteSink(256 * 1024);

  /** `runs`: the chunks of the plan's runs that could be read. `unread`: those that could not. */
  pack(
    { device, until }: SealRequest,
    { found, taken, lifts }: SealPlan,
    runs: readonly (readonly ChunkRow[])[],
    unread: readonly DamagedChunk[],
  ): SealAnswer {
    const damaged = [...unread];
    const replaced: number[] = [];
    const blocks: PackedBlock[] = [];
    for (const run of runs) {
      const whole = this.#gather(run, found, until, damaged);
      for (const { seq } of whole) replaced.push(seq);
      if (whole.length > 0) this.#pack(device, blocks);
    }
    const lifted = Float64Array.from(lifts.flatMap((block) => liftOf(block, found, until)));
    return { taken, seqs: replaced, blocks, lifts: lifted, damaged };
  }

  /** Puts the records of chunks into `#records`, with their true totals. Leaves out damaged chunks and returns the others. */
  #gather(run: readonly ChunkRow[], found: ChunksFound<ChunkHead>, until: number, damaged: DamagedChunk[]) {
    const { shifts, patches } = found;
    const records = this.#records;
    records.shrink(4 * most.bytes);
    records.length = 0;
    return run.filter((row) => {
      const start = records.length;
      const whole = intact(row, damaged, () => {
        patches.copyAll(recordsOf(row), row, shifts, records, until);
        return true;
      });
      if (whole === undefined) records.length = start;
      return whole;
    });
  }

  /** Packs what is in `#records` into blocks with nearly the same number of records, so that no block is small. */
  #pack(device: DeviceKey, blocks: PackedBlock[]): void {
    const cursor = new RecordCursor(this.#records.written);
    const moving: Moving[] = [];
    for (let at = 0; at < this.#records.length; at = cursor.end) {
      cursor.readKey(at);
      moving.push({ at, time: cursor.time, arrival: cursor.arrival });
    }
    moving.sort(byPlace);
    const each = Math.ceil(moving.length / Math.ceil(moving.length / blockRecords));
    const sink = new ByteSink(64 * 1024);
    for (let start = 0, end = 0; start < moving.length; start = end) {
      sink.length = 0;
      for (; end < moving.length && end - start < each && (end === start || sink.length < blockBytes); end++) {
        cursor.readKey(moving[end]?.at ?? 0);
        sink.copy(cursor.bytes, moving[end]?.at ?? 0, cursor.end);
      }
      const data = packBlock(sink.written, device);
      const first = moving[start]?.time ?? 0;
      blocks.push({ first, last: moving[end - 1]?.time ?? first, count: end - start, bytes: sink.length, data });
    }
  }
}

function candidatesOf({ rows, shifts, patches }: ChunksFound<ChunkHead>, until: number): readonly Candidate[] {
  return rows.map((row) => {
    // Without the row's own sums, because a block that is not packed anew keeps them.
    const { asOf, first, last } = row;
    const own = shifts.of({ asOf, first, last }, until);
    // A damaged row is not lifted, which would give it a new checksum. It is found damaged where it is read.
    const changes = !own.whole || patches.touch(row) || row.whole === false;
    return { ...row, changes, lifts: !own.none };
  });
}

/** Numbers of a lift: the block, and what is added to the totals of its records. */
function liftOf({ seq, asOf, first, last }: ChunkHead, { shifts }: ChunksFound<ChunkHead>, until: number) {
  const { odometerMm, sensorMs } = shifts.of({ asOf, first, last }, until).sums;
  return [seq, odometerMm, ...sensorMs];
}

/** The records of a chunk. Throws where they are damaged: in a block with a right checksum they would look whole. */
function recordsOf(row: ChunkRow): Uint8Array {
  checkRow(row);
  return row.sealed ? unpackBlock(row, row.bytes) : wholeRecords(row);
}

/** Runs `read`. If the chunk is damaged, adds it to `damaged` and returns undefined. */
function intact<T>(chunk: ChunkHead, damaged: DamagedChunk[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    damaged.push(damagedChunk(chunk, problem));
    return undefined;
  }
}

/** What to tell of a chunk that can't be read. */
export function damagedChunk({ seq, first, last, count }: ChunkHead, problem: string): DamagedChunk {
  return { seq, first, last, count, problem };
}
