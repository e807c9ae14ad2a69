import { RunningTotals } from "../../fold/increments.ts";
import { ContentHash } from "../../model/content-hash.ts";
import { firstArrival, type Totals } from "../../model/location.ts";
import { beginRecord, endRecord, type RecordFields } from "../records/record-codec.ts";
import type { RecordView } from "../records/record-view.ts";
import { ByteSink } from "../records/sink.ts";
import { readTotals, totalsLength } from "../records/state-codec.ts";
import { BlockDamaged, BodyReader } from "./bytes.ts";
import { ExtrasRead } from "./extras.ts";
import {
  aside,
  counted,
  doubt,
  hasAlerts,
  hasCourse,
  hasPositionTime,
  hasSpeed,
  moved,
  numbered,
  ownHash,
  ownTotals,
  uncounted,
  underway,
  unlocated,
  valid,
} from "./layout.ts";
import { readNumbers } from "./numbers.ts";
import { TextsRead } from "./texts.ts";

/** All cursors share it: it holds nothing between two records. */
const contentHash = new ContentHash();

/** Counts the records that have a mark. The marks of a block have few different values, so that each of these is counted once. */
function counterOf(marks: Float64Array): (mark: number) => number {
  const counts = new Map<number, number>();
  let [value, times] = [marks[0] ?? 0, 0];
  const note = () => counts.set(value, (counts.get(value) ?? 0) + times);
  for (let index = 0; index < marks.length; index++) {
    const own = marks[index] ?? 0;
    if (own !== value) {
      note();
      [value, times] = [own, 0];
    }
    times++;
  }
  note();
  return (mark) => {
    let records = 0;
    for (const [own, count] of counts) if (own & mark) records += count;
    return records;
  };
}

/** The present record's increment. All cursors share this object, because nobody keeps it. */
const increment = {
  time: 0,
  positioned: false,
  aside: false,
  doubt: false,
  latitude: 0,
  longitude: 0,
  inputsReported: 0,
  inputsActive: 0,
  countedMm: 0,
  moved: false,
  underway: false,
  uncounted: false,
};

/** Walks over the records of a block in their order and computes their totals again. Makes content keys and texts only when asked for them. Throws `BlockDamaged`. */
export class BlockCursor implements RecordView, RecordFields {
  /** Records of the block. */
  readonly count: number;
  readonly #marks: Float64Array;
  readonly #times: Float64Array;
  readonly #delays: Float64Array;
  readonly #latitudes: Float64Array;
  readonly #longitudes: Float64Array;
  readonly #speeds: Float64Array;
  readonly #courses: Float64Array;
  readonly #positionTimes: Float64Array;
  readonly #counts: Float64Array;
  readonly #arrivals: Float64Array;
  readonly #hashes: Float64Array;
  readonly #ownTotals: DataView;
  readonly #alerts: TextsRead;
  readonly #extras: ExtrasRead;
  /** The present record's extras. They are made when something first needs their bytes. */
  #extrasMade: ByteSink | undefined;
  #hasExtras = false;
  /** Indexes of the next record, and of the next values of columns that not all records have. */
  #next = 0;
  #nextLocated = 0;
  #nextSpeed = 0;
  #nextCourse = 0;
  #nextPositionTime = 0;
  #nextCount = 0;
  #nextArrival = 0;
  #nextHash = 0;
  #totalsAt = 0;
  /** Index of the present record's alerts where the record has alerts. Otherwise the index of the next alerts. */
  #nextAlerts = 0;
  readonly #totals = new RunningTotals();
  #mark = 0;
  #number: number | undefined;
  #ownHash: number | undefined;
  time = 0;
  receivedAt = 0;
  valid = false;
  latitude = 0;
  longitude = 0;
  speed: number | undefined = undefined;
  course: number | undefined = undefined;
  unlocated: true | undefined = undefined;
  positionTime: number | undefined = undefined;
  odometerMm = 0;
  inputsKnown = 0;
  sensor1 = 0;
  sensor2 = 0;
  sensor3 = 0;
  sensor4 = 0;
  movedAt = 0;

  /** `body`: what `bodyOf` gives of a block of columns. */
  constructor(count: number, bytes: Uint8Array) {
    const body = new BodyReader(bytes);
    const marks = readNumbers(body, count);
    const having = counterOf(marks);
    const located = count - having(unlocated);
    this.count = count;
    this.#marks = marks;
    this.#times = readNumbers(body, count);
    this.#delays = readNumbers(body, count);
    this.#latitudes = readNumbers(body, located);
    this.#longitudes = readNumbers(body, located);
    this.#speeds = readNumbers(body, having(hasSpeed));
    this.#courses = readNumbers(body, having(hasCourse));
    this.#positionTimes = readNumbers(body, having(hasPositionTime));
    this.#counts = readNumbers(body, having(counted));
    this.#arrivals = readNumbers(body, having(numbered));
    this.#hashes = readNumbers(body, having(ownHash));
    const totals = body.sized();
    this.#ownTotals = new DataView(totals.buffer, totals.byteOffset, totals.byteLength);
    this.#alerts = new TextsRead(body, having(hasAlerts));
    this.#extras = new ExtrasRead(body, count);
  }

  get hasAlerts(): boolean {
    return (this.#mark & hasAlerts) !== 0;
  }

  get hasNotFinite(): boolean {
    return this.#extras.hasNotFinite;
  }

  get hasOwnPosition(): boolean {
    return !this.unlocated && this.positionTime === undefined;
  }

  get isShown(): boolean {
    return !this.unlocated || this.#totals.hasAnchor;
  }

  /** The totals as they were packed, without the shifts since. */
  get totals(): Totals {
    return this.#totals.totals;
  }

  get arrival(): number {
    return this.#number ?? this.hash;
  }

  get hash(): number {
    if (this.#ownHash !== undefined) return this.#ownHash;
    const extras = this.#makeExtras();
    return contentHash.of(this.unlocated ? undefined : this, extras, 0, extras.length);
  }

  /** Event time of a record. */
  timeAt(index: number): number {
    return this.#times[index] ?? 0;
  }

  /** Goes to the next record. Returns false when there is none. */
  next(): boolean {
    const index = this.#next;
    if (index >= this.count) return false;
    if (this.hasAlerts) this.#nextAlerts++;
    this.#extras.next();
    this.#hasExtras = false;
    this.#next++;
    const marks = this.#marks[index] ?? 0;
    this.#mark = marks;
    const before = this.time;
    this.time = this.#times[index] ?? 0;
    this.receivedAt = this.time + (this.#delays[index] ?? 0);
    this.valid = (marks & valid) !== 0;
    this.speed = marks & hasSpeed ? this.#speeds[this.#nextSpeed++] : undefined;
    this.course = marks & hasCourse ? this.#courses[this.#nextCourse++] : undefined;
    this.positionTime = marks & hasPositionTime ? this.#positionTimes[this.#nextPositionTime++] : undefined;
    this.#number = marks & numbered ? firstArrival + (this.#arrivals[this.#nextArrival++] ?? 0) : undefined;
    this.#ownHash = marks & ownHash ? this.#hashes[this.#nextHash++] : undefined;
    if (marks & unlocated) this.#unlocated(before, marks);
    else {
      this.unlocated = undefined;
      this.latitude = this.#latitudes[this.#nextLocated] ?? 0;
      this.longitude = this.#longitudes[this.#nextLocated++] ?? 0;
      this.#advance(before, marks);
    }
    return true;
  }

  /** Appends the present record as `writeRecord` writes it. */
  write(sink: ByteSink): void {
    const start = sink.length;
    beginRecord(sink, this, this.hasAlerts);
    if (this.hasAlerts) {
      sink.uint32(this.#alerts.at(this.#nextAlerts).length);
      this.appendAlerts(sink);
    }
    const extras = this.#makeExtras();
    sink.copy(extras.bytes, 0, extras.length);
    endRecord(sink, start);
  }

  appendAlerts(sink: ByteSink): void {
    sink.append(this.#alerts.at(this.#nextAlerts));
  }

  appendExtras(sink: ByteSink): void {
    this.#extras.append(sink);
  }

  /** A record without a position is shown at the last one. */
  #unlocated(before: number, marks: number): void {
    this.unlocated = true;
    this.latitude = 0;
    this.longitude = 0;
    this.#advance(before, marks);
    const totals = this.#totals;
    if (!totals.hasAnchor) return;
    this.latitude = totals.anchorLatitude;
    this.longitude = totals.anchorLongitude;
    this.positionTime = totals.anchorTime;
  }

  #makeExtras(): ByteSink {
    this.#extrasMade ??= new ByteSink(4096);
    const made = this.#extrasMade;
    if (this.#hasExtras) return made;
    this.#hasExtras = true;
    made.length = 0;
    this.#extras.append(made);
    return made;
  }

  /** The record's totals: its own, or those of the record before with its increment. */
  #advance(beforeTime: number, marks: number): void {
    const totals = this.#totals;
    if (marks & ownTotals) {
      const own = readTotals(this.#ownTotals, this.#totalsAt);
      this.#totalsAt += totalsLength(own);
      totals.set(own);
    } else if (this.#next === 1) throw new BlockDamaged("a block's first record has no totals");
    else {
      const { facts } = this.#extras;
      increment.time = this.time;
      increment.positioned = (marks & (valid | hasPositionTime | unlocated)) === valid;
      increment.aside = (marks & aside) !== 0;
      increment.doubt = (marks & doubt) !== 0;
      increment.latitude = this.latitude;
      increment.longitude = this.longitude;
      increment.inputsReported = facts.inputsReported;
      increment.inputsActive = facts.inputsActive;
      increment.countedMm = marks & counted ? (this.#counts[this.#nextCount++] ?? 0) : 0;
      increment.moved = (marks & moved) !== 0;
      increment.underway = (marks & underway) !== 0;
      increment.uncounted = (marks & uncounted) !== 0;
      totals.add(beforeTime, increment);
    }
    this.odometerMm = totals.odometerMm;
    this.inputsKnown = totals.inputsKnown;
    this.movedAt = totals.movedAt;
    this.sensor1 = totals.sensor1;
    this.sensor2 = totals.sensor2;
    this.sensor3 = totals.sensor3;
    this.sensor4 = totals.sensor4;
  }
}
