import { ByteSink } from "../records/sink.ts";
import type { RecordView } from "./record-view.ts";

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

  get count(): number {
    return this.#times.length;
  }

  get first(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  /** A view of all records. */
  get bytes(): Uint8Array {
    return this.#sink.written;
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

  /** Cuts all records into the contents of blocks of about the same size. */
  *cut(): Iterable<Uint8Array> {
    const blocks = Math.ceil(this.count / mostRecords);
    const target = Math.ceil(this.count / blocks);
    for (let from = 0; from < this.count; ) {
      const to = this.#endOf(from, target);
      yield this.slice(from, to);
      from = to;
    }
  }

  #endOf(from: number, target: number): number {
    const start = this.#starts[from] ?? 0;
    let to = from + 1;
    const isFull = () => to - from >= target || (this.#starts[to] ?? 0) - start >= mostBytes;
    while (to < this.count && !isFull()) to++;
    const most = Math.min(this.count, from + mostOfMoment);
    while (to < most && this.#times[to] === this.#times[to - 1]) to++;
    return to;
  }
}
