import type { ChunkHead } from "./chunks.ts";

import { isFull, type Most } from "./sizes.ts";

/** A full block is packed anew to take in this many late chunks, or this many late records. Until then they lie beside the block. */
const worthChunks = 16;
const worthRecords = 64;

/** A chunk that may be sealed. */
export interface Candidate extends ChunkHead {
  /** Shifts or patches change some of its records, and not all in the same way. */
  readonly changes: boolean;
  /** Shifts add to the totals of its records. Without `changes` they add the same to each record. */
  readonly lifts: boolean;
}

/** What is to be done with chunks. */
export interface SealingPlan {
  /** How many of the chunks, from the first one on, are dealt with. */
  readonly taken: number;
  /** Chunks whose records are packed together. */
  readonly runs: readonly (readonly Candidate[])[];
  /** Blocks that are not packed anew: the same is added to all of their records. */
  readonly lifts: readonly Candidate[];
}

/**
 * Chooses what to seal. `rows`: chunks in the order of their beginnings. `everything`: full blocks take in late chunks, however few, because all shifts and patches are to be
 * folded in. A full block stays where nothing in it changes: packing costs a hundred times as much as anything else here.
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
      // Records before it and records behind it must not share a block, which would overlap this one.
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

/** Whether the records of two chunks may have to be merged. Successive blocks may share a moment: the records of the first block come first then. */
function overlap(one: ChunkHead, other: ChunkHead): boolean {
  if (one.sealed && other.sealed) return one.first < other.last && other.first < one.last;
  return one.first <= other.last && other.first <= one.last && !(one.last === other.first && one.sealed);
}
