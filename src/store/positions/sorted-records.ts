import { PackedCursor } from "./packed-record.ts";
import type { RecordWalk, WholeRecord } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/** Walks over packed records in the order of event time; of one moment, in the order in which they stand. */
export class SortedRecords implements RecordWalk {
  readonly #cursor: PackedCursor;
  /** Where each record begins and its time, in order. */
  readonly #places: readonly Place[];
  #next = 0;

  /** Throws `RecordsDamaged`. */
  constructor(bytes: Uint8Array) {
    this.#cursor = new PackedCursor(bytes);
    this.#places = placesByTime(this.#cursor);
  }

  get time(): number {
    return this.#cursor.time;
  }

  get record(): WholeRecord {
    return this.#cursor;
  }

  get key(): number {
    return this.#cursor.key;
  }

  get nextTime(): number {
    return this.#places[this.#next]?.time ?? Number.NaN;
  }

  next(): boolean {
    const place = this.#places[this.#next];
    if (place === undefined) return false;
    this.#next++;
    this.#cursor.read(place.start);
    return true;
  }

  write(sink: ByteSink): void {
    this.#cursor.write(sink);
  }
}

interface Place {
  readonly start: number;
  readonly time: number;
}

function placesByTime(cursor: PackedCursor): readonly Place[] {
  const places: Place[] = [];
  let isInOrder = true;
  for (let at = 0, before = Number.NEGATIVE_INFINITY; at < cursor.bytes.byteLength; at = cursor.end) {
    cursor.readTime(at);
    if (cursor.time < before) isInOrder = false;
    before = cursor.time;
    places.push({ start: at, time: before });
  }
  // Sorting is stable.
  return isInOrder ? places : places.sort((one, other) => one.time - other.time);
}
