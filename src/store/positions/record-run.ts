import { PackedCursor } from "./packed-record.ts";
import type { RecordView } from "./record-view.ts";
import { ByteSink } from "./sink.ts";

/** Most records of a block. */
const mostRecords = 1024;
/** A block of long records has fewer: about so many bytes before they are packed. */
const mostBytes = 256 * 1024;
/** Records of one moment stay in one block, unless they are more than this. */
const mostOfMoment = 4 * mostRecords;

/** Packed records in their order, with the places that they are cut at. */
export class RecordRun {
  readonly #sink: ByteSink;
  readonly #times: number[] = [];
  /** Where each record begins. */
  readonly #starts: number[] = [];

  constructor(capacity: number) {
    this.#sink = new ByteSink(capacity);
  }

  /**
   * Records that stand in their order already, each of a moment of its own, from `since` on. Undefined where they do
   * not.
   */
  static inOrder(bytes: Uint8Array, since: number): RecordRun | undefined {
    const run = new RecordRun(bytes.byteLength);
    const cursor = new PackedCursor(bytes);
    let before = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < bytes.byteLength; at = cursor.end) {
      cursor.readTime(at);
      if (!(cursor.time > before && cursor.time >= since)) return undefined;
      before = cursor.time;
      run.#times.push(before);
      run.#starts.push(at);
    }
    run.#sink.append(bytes);
    return run;
  }

  get count(): number {
    return this.#times.length;
  }

  add(record: RecordView): void {
    this.#times.push(record.time);
    this.#starts.push(this.#sink.length);
    record.write(this.#sink);
  }

  /** Index of the first record at a moment or later. */
  indexAt(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  timeAt(index: number): number {
    return this.#times[index] ?? Number.POSITIVE_INFINITY;
  }

  /** A view of the records [from, to). */
  slice(from: number, to: number): Uint8Array {
    return this.#sink.written.subarray(this.#starts[from] ?? this.#sink.length, this.#starts[to] ?? this.#sink.length);
  }

  /** Cuts the records [from, to) into the contents of blocks of about the same size. */
  *cut(from = 0, to = this.count): Iterable<Uint8Array> {
    const blocks = Math.ceil((to - from) / mostRecords);
    const target = Math.ceil((to - from) / blocks);
    for (let start = from; start < to; ) {
      const end = this.#endOf(start, target, to);
      yield this.slice(start, end);
      start = end;
    }
  }

  #endOf(from: number, target: number, last: number): number {
    const start = this.#starts[from] ?? 0;
    let to = from + 1;
    const isFull = () => to - from >= target || (this.#starts[to] ?? 0) - start >= mostBytes;
    while (to < last && !isFull()) to++;
    const most = Math.min(last, from + mostOfMoment);
    while (to < most && this.#times[to] === this.#times[to - 1]) to++;
    return to;
  }
}
