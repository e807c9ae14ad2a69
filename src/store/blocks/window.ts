import { RecordCursor } from "../records/record-codec.ts";
import type { ByteSink } from "../records/sink.ts";
import type { BlockCursor } from "./block-cursor.ts";

/** A part of a block's records: the last one before a moment, those of the moment, and so many behind it, as far as they are before a bound. */
export interface Window {
  readonly from: number;
  readonly bound: number;
  readonly most: number;
}

/** Where a window begins and ends, by the times of `count` records in their order. */
function edgesOf(count: number, timeAt: (index: number) => number, { from, bound, most }: Window): [number, number] {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeAt(middle) < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < count && timeAt(end) === from) end++;
  const last = Math.min(count, end + most);
  while (end < last && timeAt(end) < bound) end++;
  return [Math.max(0, low - 1), end];
}

/** Appends a window of a block that has just been opened. Only its records' texts are made, which is most of what unpacking takes. */
export function appendWindow(block: BlockCursor, window: Window, sink: ByteSink): void {
  const [begin, end] = edgesOf(block.count, (index) => block.timeAt(index), window);
  for (let index = 0; index < end && block.next(); index++) if (index >= begin) block.write(sink);
}

/** A window of records that are unpacked. */
export function windowOf(records: Uint8Array, window: Window): Uint8Array {
  const cursor = new RecordCursor(records);
  const starts: number[] = [];
  const times: number[] = [];
  for (let at = 0; at < records.byteLength; at = cursor.end) {
    cursor.readKey(at);
    starts.push(at);
    times.push(cursor.time);
  }
  const [begin, end] = edgesOf(times.length, (index) => times[index] ?? 0, window);
  return records.subarray(starts[begin] ?? 0, starts[end] ?? records.byteLength);
}
