import type { TotalsShift } from "../../model/commit.ts";
import type { TotalsSums } from "../../model/location.ts";
import { odometerOffset, type RecordCursor, writeRecord } from "./record-codec.ts";
import type { RecordView } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/*
 * What late records add to the totals of those after them, as doubles: five for each shift
 *   afterTime, afterArrival, seq, odometerMm, 1 where input times follow and 0 where they are all zero; then, where they follow, the four of them.
 * A shift concerns the records after its place that were stored before it: those of chunks with a smaller row number than its `seq`.
 */
const short = 5;
const long = 9;

/** Appends a commit's shifts. `seq`: the row number of its first chunk. */
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

/**
 * The shifts of one device that are not yet in the bytes of its chunks: stored totals with them are the true ones.
 * They are few, since a background task folds them in, so that they are gone through one by one.
 */
export class Shifts {
  readonly #numbers: Float64Array;

  /** `bytes` as `writeShifts` made them; undefined: there are none. */
  constructor(bytes: Uint8Array | undefined) {
    const length = bytes?.byteLength ?? 0;
    // What SQLite gives lies anywhere in its buffer; doubles need their own place.
    this.#numbers = new Float64Array(length / 8);
    if (bytes !== undefined) new Uint8Array(this.#numbers.buffer).set(bytes);
  }

  get none(): boolean {
    return this.#numbers.length === 0;
  }

  /** Adds what concerns the record that the cursor has read, of the chunk with this row number, to the cursor's totals. True: there was something. */
  addTo(cursor: RecordView, seq: number): boolean {
    const numbers = this.#numbers;
    const { time } = cursor;
    let some = false;
    for (let at = 0; at < numbers.length; at += numbers[at + 4] === 0 ? short : long) {
      const afterTime = numbers[at] ?? 0;
      if (afterTime > time || (numbers[at + 2] ?? 0) <= seq) continue;
      if (afterTime === time && (numbers[at + 1] ?? 0) >= cursor.arrival) continue;
      some = true;
      cursor.odometerMm += numbers[at + 3] ?? 0;
      if (numbers[at + 4] === 0) continue;
      cursor.sensor1 += numbers[at + 5] ?? 0;
      cursor.sensor2 += numbers[at + 6] ?? 0;
      cursor.sensor3 += numbers[at + 7] ?? 0;
      cursor.sensor4 += numbers[at + 8] ?? 0;
    }
    return some;
  }

  /** Appends the record at an offset of the cursor's bytes, of the chunk with this row number, with its true totals. */
  copy(cursor: RecordCursor, at: number, seq: number, sink: ByteSink): void {
    if (this.none) cursor.readKey(at);
    else cursor.read(at);
    const { sensor1, sensor2, sensor3, sensor4 } = cursor;
    if (this.none || !this.addTo(cursor, seq)) sink.copy(cursor.bytes, at, cursor.end);
    else if (
      cursor.sensor1 !== sensor1 ||
      cursor.sensor2 !== sensor2 ||
      cursor.sensor3 !== sensor3 ||
      cursor.sensor4 !== sensor4
    )
      writeRecord(sink, cursor.record());
    else {
      sink.copy(cursor.bytes, at, cursor.end);
      sink.view.setFloat64(sink.length - (cursor.end - at) + odometerOffset, cursor.odometerMm, true);
    }
  }

  /** Those of later commits than the one that began with this row number: how many, the earliest time that they are after, and their bytes. */
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

  /** The sums of all that concerns a record. */
  sumsFor(cursor: RecordCursor, seq: number): TotalsSums {
    cursor.odometerMm = cursor.sensor1 = cursor.sensor2 = cursor.sensor3 = cursor.sensor4 = 0;
    this.addTo(cursor, seq);
    return {
      odometerMm: cursor.odometerMm,
      sensorMs: [cursor.sensor1, cursor.sensor2, cursor.sensor3, cursor.sensor4],
    };
  }
}
