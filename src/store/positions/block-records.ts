import { ContentHash } from "../../model/content-hash.ts";
import { BodyReader } from "./columns/bytes.ts";
import { ExtrasRead } from "./columns/extras.ts";
import { readNumbers } from "./columns/numbers.ts";
import { putView, type RecordFields } from "./packed-record.ts";
import type { RecordFacts, RecordWalk, WholeRecord } from "./record-view.ts";
import { ByteSink } from "./sink.ts";

/** What a record of a block has. */
export const valid = 1;
export const hasSpeed = 2;
export const hasCourse = 4;
export const unlocated = 8;
const combinations = 16;

/** One for all: they hold nothing between two records. */
const contentHash = new ContentHash();
const extrasMade = new ByteSink(4096);

/** Walks over the records of a block's body. Makes keys and texts only when asked for them. Throws `BlockDamaged`. */
export class BlockRecords implements RecordWalk, RecordFields, WholeRecord {
  readonly #marks: Float64Array;
  readonly #times: Float64Array;
  readonly #delays: Float64Array;
  readonly #latitudes: Float64Array;
  readonly #longitudes: Float64Array;
  readonly #speeds: Float64Array;
  readonly #courses: Float64Array;
  readonly #extras: ExtrasRead;
  /** Indexes of the next record, and of the next values of columns that not all records have. */
  #next = 0;
  #nextLocated = 0;
  #nextSpeed = 0;
  #nextCourse = 0;
  time = 0;
  receivedAt = 0;
  valid = false;
  unlocated = false;
  latitude = 0;
  longitude = 0;
  speed: number | undefined = undefined;
  course: number | undefined = undefined;

  constructor(count: number, bytes: Uint8Array) {
    const body = new BodyReader(bytes);
    const marks = readNumbers(body, count);
    const having = counterOf(marks);
    const located = count - having(unlocated);
    this.#marks = marks;
    this.#times = readNumbers(body, count);
    this.#delays = readNumbers(body, count);
    this.#latitudes = readNumbers(body, located);
    this.#longitudes = readNumbers(body, located);
    this.#speeds = readNumbers(body, having(hasSpeed));
    this.#courses = readNumbers(body, having(hasCourse));
    this.#extras = new ExtrasRead(body, count);
  }

  get record(): WholeRecord {
    return this;
  }

  get facts(): RecordFacts {
    return this.#extras.facts;
  }

  get extras(): string {
    return this.#made().written.toString();
  }

  appendExtras(sink: ByteSink): void {
    this.#extras.append(sink);
  }

  #made(): ByteSink {
    extrasMade.length = 0;
    this.#extras.append(extrasMade);
    return extrasMade;
  }

  get key(): number {
    this.#made();
    return contentHash.of(this.unlocated ? undefined : this, extrasMade, 0, extrasMade.length);
  }

  get nextTime(): number {
    return this.#times[this.#next] ?? Number.NaN;
  }

  next(): boolean {
    const index = this.#next;
    if (index >= this.#marks.length) return false;
    this.#next++;
    this.#extras.next();
    const marks = this.#marks[index] ?? 0;
    this.time = this.#times[index] ?? 0;
    this.receivedAt = this.time + (this.#delays[index] ?? 0);
    this.valid = (marks & valid) !== 0;
    this.unlocated = (marks & unlocated) !== 0;
    this.latitude = this.unlocated ? 0 : (this.#latitudes[this.#nextLocated] ?? 0);
    this.longitude = this.unlocated ? 0 : (this.#longitudes[this.#nextLocated++] ?? 0);
    this.speed = marks & hasSpeed ? this.#speeds[this.#nextSpeed++] : undefined;
    this.course = marks & hasCourse ? this.#courses[this.#nextCourse++] : undefined;
    return true;
  }

  write(sink: ByteSink): void {
    putView(sink, this, (bytes) => this.appendExtras(bytes));
  }
}

/** Counts the records that have a mark. */
function counterOf(marks: Float64Array): (mark: number) => number {
  const counts = new Float64Array(combinations);
  for (const own of marks) counts[own & (combinations - 1)] = (counts[own & (combinations - 1)] ?? 0) + 1;
  return (mark) => counts.reduce((sum, records, own) => (own & mark ? sum + records : sum), 0);
}
