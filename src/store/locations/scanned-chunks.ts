import type { DeviceKey } from "../../model/device.ts";
import { nobody, scanColumns } from "./calls.ts";
import type { PlacedChunk } from "./device-chunks.ts";

/** A chunk of a scan. `asOf`: see `ShiftedChunk`. */
export interface ScannedChunk extends PlacedChunk {
  readonly device: DeviceKey;
  readonly asOf: number;
}

/** Who is told of a scan's chunks. */
export interface ScanListener {
  /** Whether a chunk is passed over. */
  passes(chunk: ScannedChunk): boolean;
  chunk(chunk: ScannedChunk): void;
  /** Called after some thousand chunks each time. */
  someRead(): Promise<void>;
}

/** The chunks of a scan. Successive lost rows are reported as one. */
export function* chunksOf(rows: Float64Array, sealed: boolean): Generator<ScannedChunk> {
  let lost: ScannedChunk | undefined;
  for (let at = 0; at < rows.length; at += scanColumns) {
    const chunk = {
      seq: rows[at] ?? 0,
      device: rows[at + 1] ?? 0,
      first: rows[at + 2] ?? 0,
      last: rows[at + 3] ?? 0,
      count: rows[at + 4] ?? 0,
      bytes: rows[at + 5] ?? 0,
      asOf: rows[at + 6] ?? 0,
      sealed,
    };
    if (chunk.device === nobody && chunk.bytes === nobody) {
      lost = lost === undefined ? chunk : { ...lost, seq: Math.max(lost.seq, chunk.seq), last: chunk.last };
      continue;
    }
    if (lost !== undefined) yield lost;
    lost = undefined;
    yield chunk;
  }
  if (lost !== undefined) yield lost;
}

/**
 * The row number from which a scan goes on after `rows`, which it found from the number `from` on. Numbers that JavaScript can't hold exactly don't count, because the same row would be
 * found again. Those of damaged rows count only if there are no others, because a damaged row may have any number.
 */
export function placeBehind(rows: Float64Array, from: number): number {
  const numbers = (isDamaged: boolean) => {
    let at = rows.length - scanColumns;
    while (at >= 0 && (!Number.isSafeInteger(rows[at]) || (rows[at + 1] === nobody) !== isDamaged)) at -= scanColumns;
    return at < 0 ? undefined : rows[at];
  };
  const last = numbers(false) ?? numbers(true);
  return last === undefined ? Number.POSITIVE_INFINITY : Math.max(last, from) + 1;
}

/** What is wrong with a chunk that is not possible. */
export const impossible =
  "its row has an impossible number, says that it has no positions, or gives them times that are impossible";

/** Whether a row's count and times can be those of stored records. */
export function isPossible({ first, last, count }: PlacedChunk): boolean {
  return isSpan(first, last, count);
}

/** A date has a time of 8.64e15 ms at most. */
function isSpan(first: number, last: number, count: number): boolean {
  return count > 0 && first <= last && first >= -8.64e15 && last <= 8.64e15;
}

/** Whether a scan's answer tells of no damage, and all of its rows are possible. It makes no objects, because a start reads millions of rows. */
export function areWhole(rows: Float64Array): boolean {
  for (let at = 0; at < rows.length; at += scanColumns) {
    if (rows[at + 1] === nobody || !Number.isSafeInteger(rows[at])) return false;
    if (!isSpan(rows[at + 2] ?? 0, rows[at + 3] ?? 0, rows[at + 4] ?? 0)) return false;
  }
  return true;
}
