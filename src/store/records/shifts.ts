import type { TotalsShift } from "../../model/commit.ts";
import { shiftedTotals, type Totals, type TotalsSums } from "../../model/location.ts";
import { odometerOffset, type RecordCursor, writeRecord } from "./record-codec.ts";
import type { RecordView } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/*
 * The shifts of a device as doubles. A shift is what a late record adds to the totals of the records after it. Each has five numbers, or nine:
 *   afterTime, afterArrival, seq, odometerMm, 1 where the four input times follow and 0 where they are all zero.
 * A shift concerns the records after its place (time, arrival), in chunks that are as of a smaller row number than its `seq`: totals of later chunks include it already.
 */
const short = 5;
const long = 9;

/** Appends a commit's shifts. `seq`: row number of the commit's first chunk. */
export function writeShifts(sink: ByteSink, seq: number, shifts: readonly TotalsShift[]): void {
  for (const { afterTime, afterArrival, odometerMm, sensorMs } of shifts) {
    sink.float64(afterTime);
    sink.float64(afterArrival);
    sink.float64(seq);
    sink.float64(odometerMm);
    const sensors = sensorMs.some((ms) => ms !== 0);
    sink.float64(sensors ? 1 : 0);
    if (sensors) for (const ms of sensorMs) sink.float64(ms);
  }
}

/** What says which shifts concern a chunk. */
export interface ShiftedChunk {
  /** Row number up to which shifts and patches are in the chunk already. */
  readonly asOf: number;
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
  /** Lifts of the block: what is added to the totals of each record. Undefined when nothing is. */
  readonly sums?: TotalsSums | undefined;
}

/** The shifts of one device that are not yet in all of its chunks. They are few, because the sealer folds them in. */
export class Shifts {
  readonly #numbers: Float64Array;

  /** `bytes`: as `writeShifts` made them. Undefined when there are none. */
  constructor(bytes: Uint8Array | undefined) {
    const length = bytes?.byteLength ?? 0;
    // SQLite's bytes may begin anywhere in a buffer. Doubles must be aligned, so the bytes are copied.
    this.#numbers = new Float64Array(length / 8);
    if (bytes !== undefined) new Uint8Array(this.#numbers.buffer).set(bytes);
  }

  /** What is added to the records of a chunk, by its lifts and by shifts up to a row number. */
  of({ asOf, first, last, sums }: ShiftedChunk, until = Number.POSITIVE_INFINITY): ChunkShifts {
    const numbers = this.#numbers;
    if (numbers.length === 0 && sums === undefined) return noShifts;
    const own = new ChunkShifts();
    if (sums !== undefined) own.add(Number.NEGATIVE_INFINITY, 0, sums.odometerMm, sums.sensorMs, first);
    for (let at = 0; at < numbers.length; at += numbers[at + 4] === 0 ? short : long) {
      const afterTime = numbers[at] ?? 0;
      const seq = numbers[at + 2] ?? 0;
      if (afterTime > last || seq <= asOf || seq > until) continue;
      const sensorMs = numbers[at + 4] === 0 ? noSensors : numbers.subarray(at + 5, at + long);
      own.add(afterTime, numbers[at + 1] ?? 0, numbers[at + 3] ?? 0, sensorMs, first);
    }
    return own;
  }

  /** The shifts with a higher row number: how many, the earliest time from which on they concern records, and their bytes. */
  after(seq: number): { readonly count: number; readonly since: number; readonly bytes: Uint8Array } {
    const numbers = this.#numbers;
    const left = new Float64Array(numbers.length);
    let count = 0;
    let since = Number.POSITIVE_INFINITY;
    let to = 0;
    for (let at = 0, next = 0; at < numbers.length; at = next) {
      next = at + (numbers[at + 4] === 0 ? short : long);
      if ((numbers[at + 2] ?? 0) <= seq) continue;
      count++;
      since = Math.min(since, numbers[at] ?? 0);
      left.set(numbers.subarray(at, next), to);
      to += next - at;
    }
    return { count, since, bytes: new Uint8Array(left.buffer, 0, to * 8) };
  }
}

/** Numbers of a shift that concerns a part of a chunk: afterTime, afterArrival, odometerMm, four input times. */
const partial = 7;
const noSensors = [0, 0, 0, 0] as const;

/** What is added to the totals of a chunk's records: sums for all of them, and more for those after some places. */
export class ChunkShifts {
  #odometerMm = 0;
  readonly #sensorMs: [number, number, number, number] = [0, 0, 0, 0];
  readonly #partial: number[] = [];
  #hasSums = false;

  /** Adds a shift. `first`: event time of the chunk's first record. */
  add(afterTime: number, afterArrival: number, odometerMm: number, sensorMs: ArrayLike<number>, first: number): void {
    const one = sensorMs[0] ?? 0;
    const two = sensorMs[1] ?? 0;
    const three = sensorMs[2] ?? 0;
    const four = sensorMs[3] ?? 0;
    if (afterTime >= first) {
      this.#partial.push(afterTime, afterArrival, odometerMm, one, two, three, four);
      return;
    }
    this.#hasSums = true;
    this.#odometerMm += odometerMm;
    this.#sensorMs[0] += one;
    this.#sensorMs[1] += two;
    this.#sensorMs[2] += three;
    this.#sensorMs[3] += four;
  }

  /** Nothing is added to any record. */
  get none(): boolean {
    return this.#partial.length === 0 && !this.#hasSums;
  }

  /** The same is added to each record. */
  get whole(): boolean {
    return this.#partial.length === 0;
  }

  /** What is added to every record. */
  get sums(): TotalsSums {
    return { odometerMm: this.#odometerMm, sensorMs: this.#sensorMs };
  }

  /** Adds to the cursor's totals what concerns the record that the cursor has read. */
  addTo(cursor: RecordView): void {
    const own = this.#sensorMs;
    cursor.odometerMm += this.#odometerMm;
    cursor.sensor1 += own[0];
    cursor.sensor2 += own[1];
    cursor.sensor3 += own[2];
    cursor.sensor4 += own[3];
    const numbers = this.#partial;
    const { time } = cursor;
    for (let at = 0; at < numbers.length; at += partial) {
      const afterTime = numbers[at] ?? 0;
      if (afterTime > time || (afterTime === time && (numbers[at + 1] ?? 0) >= cursor.arrival)) continue;
      cursor.odometerMm += numbers[at + 2] ?? 0;
      cursor.sensor1 += numbers[at + 3] ?? 0;
      cursor.sensor2 += numbers[at + 4] ?? 0;
      cursor.sensor3 += numbers[at + 5] ?? 0;
      cursor.sensor4 += numbers[at + 6] ?? 0;
    }
  }

  /** Appends the record at an offset of the cursor's bytes with its true totals. */
  copy(cursor: RecordCursor, at: number, sink: ByteSink): void {
    if (this.none) {
      cursor.readKey(at);
      sink.copy(cursor.bytes, at, cursor.end);
      return;
    }
    cursor.read(at);
    const { odometerMm, sensor1, sensor2, sensor3, sensor4 } = cursor;
    this.addTo(cursor);
    if (
      cursor.sensor1 !== sensor1 ||
      cursor.sensor2 !== sensor2 ||
      cursor.sensor3 !== sensor3 ||
      cursor.sensor4 !== sensor4
    ) {
      writeRecord(sink, cursor.record());
      return;
    }
    sink.copy(cursor.bytes, at, cursor.end);
    if (cursor.odometerMm !== odometerMm)
      sink.view.setFloat64(sink.length - (cursor.end - at) + odometerOffset, cursor.odometerMm, true);
  }

  /** Takes the shifts of a record from its true totals: stored totals have no shifts, because readers add them. `cursor` has read the record, or its key. */
  withoutShifts(totals: Totals, cursor: RecordCursor): Totals {
    return changedBy(totals, this.#sumsFor(cursor), -1);
  }

  /** Adds the shifts of a record to its totals. `cursor` has read the record, or its key. */
  withShifts(totals: Totals, cursor: RecordCursor): Totals {
    return changedBy(totals, this.#sumsFor(cursor), 1);
  }

  #sumsFor(cursor: RecordCursor): TotalsSums {
    cursor.odometerMm = cursor.sensor1 = cursor.sensor2 = cursor.sensor3 = cursor.sensor4 = 0;
    this.addTo(cursor);
    return {
      odometerMm: cursor.odometerMm,
      sensorMs: [cursor.sensor1, cursor.sensor2, cursor.sensor3, cursor.sensor4],
    };
  }
}

/** For chunks to which nothing is added. */
export const noShifts = new ChunkShifts();

function changedBy(totals: Totals, { odometerMm, sensorMs }: TotalsSums, sign: 1 | -1): Totals {
  const [first, second, third, fourth] = sensorMs;
  const sums = [sign * first, sign * second, sign * third, sign * fourth] as const;
  return shiftedTotals(totals, { odometerMm: sign * odometerMm, sensorMs: sums });
}
