import { zstdDecompressSync } from "node:zlib";
import { advance } from "../../fold/totals.ts";
import { ContentHash } from "../../model/content-hash.ts";
import { firstArrival, noTotals, type Totals } from "../../model/location.ts";
import { beginRecord, endRecord, type RecordFields } from "../records/record-codec.ts";
import type { RecordView } from "../records/record-view.ts";
import { ByteSink } from "../records/sink.ts";
import { readTotals, totalsLength } from "../records/state-codec.ts";
import { BlockDamaged, BodyReader } from "./bytes.ts";
import { ExtrasRead } from "./extras.ts";
import {
  blockHeader,
  hasAlerts,
  hasCourse,
  hasPositionTime,
  hasSpeed,
  headerLength,
  numbered,
  ownHash,
  ownTotals,
  unlocated,
  valid,
} from "./layout.ts";
import { readNumbers } from "./numbers.ts";
import { TextsRead } from "./texts.ts";

/** One for all: it holds nothing between two records. */
const contentHash = new ContentHash();

function inflated(block: Uint8Array, bodyLength: number): Uint8Array {
  try {
    return zstdDecompressSync(block.subarray(headerLength), { maxOutputLength: Math.max(1, bodyLength) });
  } catch (error) {
    throw new BlockDamaged("a block can't be decompressed", { cause: error });
  }
}

/** Numbers of a column, one after the other. */
class Numbers {
  readonly #values: Float64Array;
  #next = 0;

  constructor(body: BodyReader, count: number) {
    this.#values = readNumbers(body, count);
  }

  next(): number {
    return this.#values[this.#next++] ?? 0;
  }
}

/** Walks over the records of a block, in their order, and makes their totals and content keys again. Throws `BlockDamaged`. */
export class BlockCursor implements RecordView, RecordFields {
  readonly #count: number;
  readonly #marks: Float64Array;
  readonly #times: Numbers;
  readonly #delays: Numbers;
  readonly #latitudes: Numbers;
  readonly #longitudes: Numbers;
  readonly #speeds: Numbers;
  readonly #courses: Numbers;
  readonly #positionTimes: Numbers;
  readonly #arrivals: Numbers;
  readonly #hashes: Numbers;
  readonly #ownTotals: DataView;
  readonly #alerts: TextsRead;
  readonly #extras: ExtrasRead;
  /** Texts of the present record. */
  readonly #texts = new ByteSink(4096);
  #next = 0;
  #totalsAt = 0;
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
  totals: Totals = noTotals;
  odometerMm = 0;
  inputsKnown = 0;
  sensor1 = 0;
  sensor2 = 0;
  sensor3 = 0;
  sensor4 = 0;
  movedAt = 0;
  alerts = -1;
  extras = 0;

  constructor(block: Uint8Array) {
    const { count, bodyLength } = blockHeader(block);
    const body = new BodyReader(inflated(block, bodyLength));
    const marks = readNumbers(body, count);
    const having = (mark: number) => {
      let records = 0;
      for (const own of marks) if (own & mark) records++;
      return records;
    };
    const located = count - having(unlocated);
    this.#count = count;
    this.#marks = marks;
    this.#times = new Numbers(body, count);
    this.#delays = new Numbers(body, count);
    this.#latitudes = new Numbers(body, located);
    this.#longitudes = new Numbers(body, located);
    this.#speeds = new Numbers(body, having(hasSpeed));
    this.#courses = new Numbers(body, having(hasCourse));
    this.#positionTimes = new Numbers(body, having(hasPositionTime));
    this.#arrivals = new Numbers(body, having(numbered));
    this.#hashes = new Numbers(body, having(ownHash));
    const totals = body.sized();
    this.#ownTotals = new DataView(totals.buffer, totals.byteOffset, totals.byteLength);
    this.#alerts = new TextsRead(body, having(hasAlerts));
    this.#extras = new ExtrasRead(body, count);
  }

  get bytes(): Buffer {
    return this.#texts.bytes;
  }

  get end(): number {
    return this.#texts.length;
  }

  get hasOwnPosition(): boolean {
    return !this.unlocated && this.positionTime === undefined;
  }

  get isShown(): boolean {
    return !this.unlocated || this.totals.anchor !== undefined;
  }

  get arrival(): number {
    return this.#number ?? this.hash;
  }

  get hash(): number {
    return this.#ownHash ?? contentHash.of(this.unlocated ? undefined : this, this.#texts, this.extras, this.end);
  }

  /** Goes to the next record. False: there is none. */
  next(): boolean {
    if (this.#next >= this.#count) return false;
    const marks = this.#marks[this.#next++] ?? 0;
    const isUnlocated = (marks & unlocated) !== 0;
    const before = this.time;
    this.time = this.#times.next();
    this.receivedAt = this.time + this.#delays.next();
    this.valid = (marks & valid) !== 0;
    this.unlocated = isUnlocated ? true : undefined;
    this.latitude = isUnlocated ? 0 : this.#latitudes.next();
    this.longitude = isUnlocated ? 0 : this.#longitudes.next();
    this.speed = marks & hasSpeed ? this.#speeds.next() : undefined;
    this.course = marks & hasCourse ? this.#courses.next() : undefined;
    this.positionTime = marks & hasPositionTime ? this.#positionTimes.next() : undefined;
    this.#number = marks & numbered ? firstArrival + this.#arrivals.next() : undefined;
    this.#ownHash = marks & ownHash ? this.#hashes.next() : undefined;
    this.#readTexts(marks);
    this.#advance(before, marks);
    const { anchor } = this.totals;
    if (isUnlocated && anchor !== undefined) {
      this.latitude = anchor.latitude;
      this.longitude = anchor.longitude;
      this.positionTime = anchor.time;
    }
    return true;
  }

  /** Appends the present record as `writeRecord` writes it. */
  write(sink: ByteSink): void {
    const start = sink.length;
    beginRecord(sink, this, this.alerts >= 0);
    if (this.alerts >= 0) {
      sink.uint32(this.extras - this.alerts);
      sink.copy(this.bytes, this.alerts, this.extras);
    }
    sink.copy(this.bytes, this.extras, this.end);
    endRecord(sink, start);
  }

  #readTexts(marks: number): void {
    const texts = this.#texts;
    texts.length = 0;
    this.alerts = marks & hasAlerts ? 0 : -1;
    if (marks & hasAlerts) texts.append(this.#alerts.next());
    this.extras = texts.length;
    this.#extras.append(texts);
  }

  /** The record's totals: its own, or what the fold makes of the record before. */
  #advance(beforeTime: number, marks: number): void {
    if (marks & ownTotals) {
      this.totals = readTotals(this.#ownTotals, this.#totalsAt);
      this.#totalsAt += totalsLength(this.totals);
    } else if (this.#next === 1) throw new BlockDamaged("a block's first record has no totals");
    else {
      const { time, latitude, longitude, speed } = this;
      const { ignitionOff, inputsReported, inputsActive } = this.#extras.facts;
      const positioned = (marks & (valid | hasPositionTime | unlocated)) === valid;
      const step = { time, positioned, latitude, longitude, speed, ignitionOff, inputsReported, inputsActive };
      this.totals = advance(this.totals, beforeTime, step);
    }
    const { odometerMm, inputsKnown, movedAt, sensorMs } = this.totals;
    this.odometerMm = odometerMm;
    this.inputsKnown = inputsKnown;
    this.movedAt = movedAt;
    this.sensor1 = sensorMs[0];
    this.sensor2 = sensorMs[1];
    this.sensor3 = sensorMs[2];
    this.sensor4 = sensorMs[3];
  }
}
