import type { Most } from "./chunk-index.ts";
import type { ChunkHead } from "./chunk-rows.ts";
import { isFull } from "./sizes.ts";

/** A block is packed anew in order to take in so many late chunks, or so many late records: until then they lie beside it. */
const worthChunks = 16;
const worthRecords = 64;

/** A chunk that is looked at. */
export interface Candidate extends ChunkHead {
  /** Some of its records change by what waits beside it, and others do not, or otherwise. */
  readonly changes: boolean;
  /** Something is added to the totals of each of its records. */
  readonly lifts: boolean;
}

/** What is to be done with chunks. */
export interface SealingPlan {
  /** Of the chunks, the first ones that are dealt with. */
  readonly taken: number;
  /** Chunks that are put together. */
  readonly runs: readonly (readonly Candidate[])[];
  /** Blocks that stay as they are, but for what is added to all of their records. */
  readonly lifts: readonly Candidate[];
}

/**
 * Chooses what to seal. `rows`: chunks in the order of their beginnings. `everything`: also late chunks that are few, since all that waits is to be folded in.
 * Full blocks stay as they are where nothing in them changes: packing costs a hundred times what anything else here costs.
 */
export function planSealing(rows: readonly Candidate[], everything: boolean, most: Most): SealingPlan {
  const kept = rows.filter((row) => isKept(row, rows, everything));
  const lifts: Candidate[] = [];
  const runs: Candidate[][] = [];
  let run: Candidate[] = [];
  let [taken, records, bytes] = [0, 0, 0];
  const end = () => {
    const [only] = run;
    if (run.length === 1 && only?.sealed && !only.changes) {
      if (only.lifts) lifts.push(only);
    } else if (run.length > 0) runs.push(run);
    run = [];
  };
  for (; taken < rows.length && records < most.records && bytes < most.bytes; taken++) {
    const row = rows[taken];
    if (row === undefined) break;
    if (kept.includes(row)) {
      // Records from before and from behind it are not put into one block, which would overlap it.
      end();
      if (row.lifts) lifts.push(row);
    } else if (everything || !kept.some((block) => overlap(block, row))) {
      run.push(row);
      records += row.count;
      bytes += row.bytes;
    }
  }
  end();
  return { taken, runs, lifts };
}

function isKept(row: Candidate, rows: readonly Candidate[], everything: boolean): boolean {
  if (!isFullBlock(row) || row.changes) return false;
  const late = rows.filter((other) => other !== row && !isFullBlock(other) && overlap(row, other));
  if (everything) return late.length === 0;
  return late.length < worthChunks && late.reduce((sum, { count }) => sum + count, 0) < worthRecords;
}

function isFullBlock({ sealed, count, bytes }: ChunkHead): boolean {
  return sealed && isFull(count, bytes);
}

/** Whether the records of two chunks may have to be in turn. Blocks that follow each other may share a moment, at which the records of the first come first. */
function overlap(one: ChunkHead, other: ChunkHead): boolean {
  if (one.sealed && other.sealed) return one.first < other.last && other.first < one.last;
  return one.first <= other.last && other.first <= one.last && !(one.last === other.first && one.sealed);
}
