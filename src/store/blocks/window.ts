import { RecordCursor } from "../records/record-codec.ts";
import type { ByteSink } from "../records/sink.ts";
import type { BlockCursor } from "./block-cursor.ts";

/** Which records of a block are wanted: the last one before the moment `from`, all of that moment, and some later ones. */
export interface Window {
  /** Event time. */
  readonly from: number;
  /** Event time before which the later ones must be. */
  readonly bound: number;
  /** The most later ones. */
  readonly most: number;
}

/** The index of a window's first record, and the index behind its last. `timeAt`: the times of `count` records in their order. */
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

/** Appends a window of a newly opened block. Texts are made only for the window's records, because they take most of the time of unpacking. */
export function appendWindow(block: BlockCursor, window: Window, sink: ByteSink): void {
  const [begin, end] = edgesOf(block.count, (index) => block.timeAt(index), window);
  for (let index = 0; index < end && block.next(); index++) if (index >= begin) block.write(sink);
}

/** A window of unpacked records: a view. */
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
