import { ContentHash } from "../../model/content-hash.ts";
import type { SaidRecord } from "../../model/said.ts";
import type { ExtrasColumns } from "./columns/extras.ts";
import { RecordsDamaged } from "./damage.ts";
import { recordFactsOf } from "./record-facts.ts";
import type { RecordFacts, RecordView, WholeRecord } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/*
 * A record as the log has it, little endian: u32 bytes of the whole record, u8 flags, f64 time; from the time until it
 * was received as u32 ms, or f64 when it was received; where it has a position, latitude and longitude as i32 of 1e-7
 * degrees, speed and course as u16 of hundredths, or all of these as f64; the extras in UTF-8, where they are not the
 * empty ones. The key is not stored: the content gives it.
 */
const valid = 1;
const located = 2;
const hasSpeed = 4;
const hasCourse = 8;
/** Position, speed and course are doubles. */
const wide = 16;
/** When it was received is a double. */
const wideDelay = 32;
const hasExtras = 64;

const fixedLength = 13;
const noExtras = ',"attributes":{';
const noExtrasBytes = viewed(Buffer.from(noExtras));
const noExtrasFacts = recordFactsOf(noExtras);

function viewed(bytes: Buffer) {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

function isShort(value: number, scale: number, most: number): boolean {
  const whole = Math.round(value * scale);
  return Math.abs(whole) <= most && whole / scale === value && !Object.is(value, -0);
}

function isShortSpeed(value: number | undefined): boolean {
  return value === undefined || (value >= 0 && isShort(value, 100, 0xffff));
}

/** What `putRecord` takes: a record, or a view of one whose extras are bytes. */
export type RecordFields = Omit<SaidRecord, "extras" | "key" | "unlocated" | "speed" | "course"> & {
  readonly unlocated?: boolean | undefined;
  readonly speed?: number | undefined;
  readonly course?: number | undefined;
};

/** Appends a record up to its extras. Returns where it begins, for `endRecord`. */
function beginRecord(sink: ByteSink, record: RecordFields): number {
  const { time, receivedAt, latitude, longitude, speed, course } = record;
  sink.reserve(fixedLength + 40);
  const { view, length: start } = sink;
  const delay = receivedAt - time;
  const isShortDelay = delay >= 0 && delay <= 0xffff_ffff && Number.isInteger(delay) && time + delay === receivedAt;
  let flags = record.valid ? valid : 0;
  view.setFloat64(start + 5, time, true);
  let at = start + fixedLength;
  if (isShortDelay) {
    view.setUint32(at, delay, true);
    at += 4;
  } else {
    flags |= wideDelay;
    view.setFloat64(at, receivedAt, true);
    at += 8;
  }
  if (!record.unlocated) {
    const isShortPlace = isShort(latitude, 1e7, 900_000_000) && isShort(longitude, 1e7, 1_800_000_000);
    const short = isShortPlace && isShortSpeed(speed) && isShortSpeed(course);
    flags |=
      located | (short ? 0 : wide) | (speed === undefined ? 0 : hasSpeed) | (course === undefined ? 0 : hasCourse);
    at = short ? putShort(view, at, record) : putWide(view, at, record);
  }
  view.setUint8(start + 4, flags);
  sink.length = at;
  return start;
}

function putShort(view: DataView, start: number, { latitude, longitude, speed, course }: RecordFields): number {
  view.setInt32(start, Math.round(latitude * 1e7), true);
  view.setInt32(start + 4, Math.round(longitude * 1e7), true);
  let at = start + 8;
  if (speed !== undefined) {
    view.setUint16(at, Math.round(speed * 100), true);
    at += 2;
  }
  if (course !== undefined) {
    view.setUint16(at, Math.round(course * 100), true);
    at += 2;
  }
  return at;
}

function putWide(view: DataView, start: number, { latitude, longitude, speed, course }: RecordFields): number {
  let at = start;
  for (const value of [latitude, longitude, speed, course]) {
    if (value === undefined) continue;
    view.setFloat64(at, value, true);
    at += 8;
  }
  return at;
}

/** Says how long the record is that was begun at `start`, whose extras begin at `extras`. */
function endRecord(sink: ByteSink, start: number, extras: number): void {
  const { bytes, view, length } = sink;
  const empty = noExtrasBytes.bytes;
  if (length - extras === empty.length && bytes.compare(empty, 0, empty.length, extras, length) === 0)
    sink.length = extras;
  else view.setUint8(start + 4, view.getUint8(start + 4) | hasExtras);
  view.setUint32(start, sink.length - start, true);
}

/** Appends a record. */
export function putRecord(sink: ByteSink, record: SaidRecord): void {
  const start = beginRecord(sink, record);
  const extras = sink.length;
  if (record.extras !== noExtras) sink.text(record.extras);
  else {
    sink.view.setUint32(start, sink.length - start, true);
    return;
  }
  endRecord(sink, start, extras);
}

/** Appends a record whose extras `appendExtras` appends. */
export function putView(sink: ByteSink, record: RecordFields, appendExtras: (sink: ByteSink) => void): void {
  const start = beginRecord(sink, record);
  const extras = sink.length;
  appendExtras(sink);
  endRecord(sink, start, extras);
}

/** One for all: it holds nothing between two records. */
const contentHash = new ContentHash();

/** Walks over packed records without making objects: `read` fills the fields. */
export class PackedCursor implements RecordView, RecordFields, WholeRecord {
  readonly bytes: Buffer;
  readonly #view: DataView;
  time = 0;
  receivedAt = 0;
  valid = false;
  unlocated = false;
  latitude = 0;
  longitude = 0;
  speed: number | undefined = undefined;
  course: number | undefined = undefined;
  /** Where the record begins, where its extras begin, and where it ends. */
  start = 0;
  #extras = 0;
  end = 0;
  #hasExtras = false;

  constructor(bytes: Uint8Array) {
    const buffer = viewed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.bytes = buffer.bytes;
    this.#view = buffer.view;
  }

  get key(): number {
    const content = this.unlocated ? undefined : this;
    return this.#hasExtras
      ? contentHash.of(content, { bytes: this.bytes, view: this.#view }, this.#extras, this.end)
      : contentHash.of(content, noExtrasBytes, 0, noExtrasBytes.bytes.length);
  }

  get extras(): string {
    return this.#hasExtras ? this.bytes.toString("utf8", this.#extras, this.end) : noExtras;
  }

  get facts(): RecordFacts {
    return this.#hasExtras ? recordFactsOf(this.extras) : noExtrasFacts;
  }

  appendExtras(sink: ByteSink): void {
    if (this.#hasExtras) sink.copy(this.bytes, this.#extras, this.end);
    else sink.copy(noExtrasBytes.bytes, 0, noExtrasBytes.bytes.length);
  }

  addExtras(columns: ExtrasColumns): void {
    if (this.#hasExtras) columns.add(this.bytes, this.#extras, this.end);
    else columns.add(noExtrasBytes.bytes, 0, noExtrasBytes.bytes.length);
  }

  write(sink: ByteSink): void {
    sink.copy(this.bytes, this.start, this.end);
  }

  /**
   * Reads only time and end. Throws `RecordsDamaged` where the length can't be right, because the next record can't be
   * found then.
   */
  readTime(start: number): void {
    const length = this.#view.getUint32(start, true);
    if (length < fixedLength || length > this.bytes.length - start)
      throw new RecordsDamaged("a record's length is wrong");
    this.start = start;
    this.end = start + length;
    this.time = this.#view.getFloat64(start + 5, true);
  }

  read(start: number): void {
    this.readTime(start);
    const view = this.#view;
    const flags = view.getUint8(start + 4);
    let at = start + fixedLength;
    this.receivedAt = flags & wideDelay ? view.getFloat64(at, true) : this.time + view.getUint32(at, true);
    at += flags & wideDelay ? 8 : 4;
    this.valid = (flags & valid) !== 0;
    this.unlocated = (flags & located) === 0;
    this.latitude = this.longitude = 0;
    this.speed = this.course = undefined;
    if (!this.unlocated) at = flags & wide ? this.#readWide(at, flags) : this.#readShort(at, flags);
    this.#hasExtras = (flags & hasExtras) !== 0;
    this.#extras = at;
  }

  #readShort(start: number, flags: number): number {
    const view = this.#view;
    this.latitude = view.getInt32(start, true) / 1e7;
    this.longitude = view.getInt32(start + 4, true) / 1e7;
    let at = start + 8;
    if (flags & hasSpeed) {
      this.speed = view.getUint16(at, true) / 100;
      at += 2;
    }
    if (flags & hasCourse) {
      this.course = view.getUint16(at, true) / 100;
      at += 2;
    }
    return at;
  }

  #readWide(start: number, flags: number): number {
    const view = this.#view;
    this.latitude = view.getFloat64(start, true);
    this.longitude = view.getFloat64(start + 8, true);
    let at = start + 16;
    if (flags & hasSpeed) {
      this.speed = view.getFloat64(at, true);
      at += 8;
    }
    if (flags & hasCourse) {
      this.course = view.getFloat64(at, true);
      at += 8;
    }
    return at;
  }

  /** The record that was read, as a value. */
  record(): SaidRecord {
    const { time, receivedAt, key, valid, unlocated, latitude, longitude, speed, course, extras } = this;
    return {
      time,
      receivedAt,
      key,
      valid,
      ...(unlocated && { unlocated: true }),
      latitude,
      longitude,
      ...(speed !== undefined && { speed }),
      ...(course !== undefined && { course }),
      extras,
    };
  }
}

/** Packed records as values, in their order. Throws `RecordsDamaged`. */
export function readPacked(bytes: Uint8Array): SaidRecord[] {
  const cursor = new PackedCursor(bytes);
  const records: SaidRecord[] = [];
  for (let at = 0; at < bytes.byteLength; at = cursor.end) {
    cursor.read(at);
    records.push(cursor.record());
  }
  return records;
}
