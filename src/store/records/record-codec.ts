import type { Anchor, LocationRecord, RecordPlace, Totals, Uncounted } from "../../model/location.ts";
import { RecordsDamaged } from "./damage.ts";
import { hasNotFinite } from "./not-finite.ts";
import type { RecordView } from "./record-view.ts";
import type { ByteSink } from "./sink.ts";

/*
 * A record as bytes, little endian, the same in a commit's batch, on disk and in a reader's answer:
 *    0 u32 length of all of it   4 u16 flags   6 u8 inputsKnown   7 u8 inputsActive
 *    8 f64 time   16 f64 hash   24 f64 latitude   32 f64 longitude   40 f64 odometerMm
 *   48 the arrival number, then what the other flags say, in the order of the flags; then the alert members, and the extras up to the end, in UTF-8.
 * Numbers are doubles because a record must come back exactly as it was; flags leave out what is usual.
 */
const valid = 1;
/** Arrival as u32 ms after the event time; otherwise f64. */
const arrivalShort = 2;
const hasSpeed = 4;
/** Speed as u16; otherwise f64. */
const speedShort = 8;
const hasCourse = 16;
const courseShort = 32;
const hasPositionTime = 64;
/** Active times of the inputs, four f64; otherwise all are zero. */
const hasSensors = 128;
/** `movedAt` as f64; otherwise it is the record's own time. */
const hasMovedAt = 256;
/** The anchor is the record's own time and position. */
const anchorOwn = 512;
/** The anchor as three f64. Together with `anchorOwn`: the anchor, and the doubted position behind it. */
const hasAnchor = 1024;
const hasDoubted = anchorOwn | hasAnchor;
/** u32 length of the alert members, which stand before the extras; otherwise there are none. */
const hasAlerts = 2048;
/** The way that is not in the mileage yet, four f64, after the anchor; otherwise there is none. */
/** It came without a position: it has that of the anchor, or none. */
const unlocated = 4096;
const hasUncounted = 8192;
const underway = 16_384;
/** Arrival number as f64 at 48, before everything else that is optional; otherwise it is the hash. */
const numbered = 32_768;

/** Where a record's odometer is: all that most shifts change. */
export const odometerOffset = 40;
const fixedLength = 48;
/** All optional fields in their longest form. */
const longestHeader = fixedLength + 8 + 8 + 8 + 8 + 8 + 32 + 8 + 24 + 24 + 32 + 4;

function isShort(value: number): boolean {
  return value >= 0 && value <= 0xffff && Number.isInteger(value) && !Object.is(value, -0);
}

function flagsOf(record: RecordFields): number {
  const { totals, speed, course } = record;
  const { anchor, sensorMs } = totals;
  let flags = record.valid ? valid : 0;
  const delay = record.receivedAt - record.time;
  if (delay >= 0 && delay <= 0xffffffff && Number.isInteger(delay) && Number.isInteger(record.time))
    flags |= arrivalShort;
  if (speed !== undefined) flags |= isShort(speed) ? hasSpeed | speedShort : hasSpeed;
  if (course !== undefined) flags |= isShort(course) ? hasCourse | courseShort : hasCourse;
  if (record.unlocated) flags |= unlocated;
  else if (record.positionTime !== undefined) flags |= hasPositionTime;
  if (sensorMs[0] !== 0 || sensorMs[1] !== 0 || sensorMs[2] !== 0 || sensorMs[3] !== 0) flags |= hasSensors;
  if (totals.movedAt !== record.time) flags |= hasMovedAt;
  if (anchor !== undefined)
    flags |= totals.doubted
      ? hasDoubted
      : anchor.time === record.time && anchor.latitude === record.latitude && anchor.longitude === record.longitude
        ? anchorOwn
        : hasAnchor;
  if (totals.uncounted !== undefined) flags |= hasUncounted;
  if (totals.underway) flags |= underway;
  if (record.arrival !== record.hash) flags |= numbered;
  return flags;
}

/** Appends a record. */
export function writeRecord(sink: ByteSink, record: LocationRecord): void {
  const start = sink.length;
  const { alerts, extras } = record;
  beginRecord(sink, record, alerts !== undefined);
  sink.reserve(((alerts?.length ?? 0) + extras.length) * 3 + 4);
  if (alerts !== undefined) {
    const length = sink.bytes.write(alerts, sink.length + 4, "utf8");
    sink.view.setUint32(sink.length, length, true);
    sink.length += 4 + length;
  }
  sink.length += sink.bytes.write(extras, sink.length, "utf8");
  endRecord(sink, start);
}

/** What a record has beside its texts. */
export interface RecordFields extends RecordPlace {
  readonly hash: number;
  readonly receivedAt: number;
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number | undefined;
  readonly course?: number | undefined;
  readonly unlocated?: true | undefined;
  readonly positionTime?: number | undefined;
  readonly totals: Totals;
}

/** Appends a record without its texts. The alert members after their length, where there are any, and the extras are to follow; then `endRecord`. */
export function beginRecord(sink: ByteSink, record: RecordFields, alerts: boolean): void {
  const start = sink.length;
  sink.reserve(longestHeader);
  const { view } = sink;
  const { totals } = record;
  const flags = alerts ? flagsOf(record) | hasAlerts : flagsOf(record);
  view.setUint16(start + 4, flags, true);
  view.setUint8(start + 6, totals.inputsKnown);
  view.setUint8(start + 7, totals.inputsActive);
  view.setFloat64(start + 8, record.time, true);
  view.setFloat64(start + 16, record.hash, true);
  view.setFloat64(start + 24, record.latitude, true);
  view.setFloat64(start + 32, record.longitude, true);
  view.setFloat64(start + 40, totals.odometerMm, true);
  let at = start + fixedLength;
  if (flags & numbered) at = putDouble(view, at, record.arrival);
  if (flags & arrivalShort) {
    view.setUint32(at, record.receivedAt - record.time, true);
    at += 4;
  } else at = putDouble(view, at, record.receivedAt);
  if (flags & hasSpeed) at = putShortOrDouble(view, at, record.speed ?? 0, (flags & speedShort) !== 0);
  if (flags & hasCourse) at = putShortOrDouble(view, at, record.course ?? 0, (flags & courseShort) !== 0);
  if (flags & hasPositionTime) at = putDouble(view, at, record.positionTime ?? 0);
  if (flags & hasSensors) for (const ms of totals.sensorMs) at = putDouble(view, at, ms);
  if (flags & hasMovedAt) at = putDouble(view, at, totals.movedAt);
  if (flags & hasAnchor && totals.anchor !== undefined) at = putAnchor(view, at, totals.anchor);
  if ((flags & hasDoubted) === hasDoubted && totals.doubted !== undefined) at = putAnchor(view, at, totals.doubted);
  if (totals.uncounted !== undefined) {
    at = putAnchor(view, at, totals.uncounted.from);
    at = putDouble(view, at, totals.uncounted.lengthMm);
  }
  sink.length = at;
}

/** Says where the record that was begun at `start` ends. */
export function endRecord({ view, length }: ByteSink, start: number): void {
  view.setUint32(start, length - start, true);
}

function putDouble(view: DataView, at: number, value: number): number {
  view.setFloat64(at, value, true);
  return at + 8;
}

function putAnchor(view: DataView, at: number, { time, latitude, longitude }: Anchor): number {
  return putDouble(view, putDouble(view, putDouble(view, at, time), latitude), longitude);
}

function putShortOrDouble(view: DataView, at: number, value: number, short: boolean): number {
  if (!short) return putDouble(view, at, value);
  view.setUint16(at, value, true);
  return at + 2;
}

/** Walks over packed records without making objects: `read` fills the fields. */
export class RecordCursor implements RecordView {
  readonly bytes: Buffer;
  readonly #view: DataView;
  time = 0;
  arrival = 0;
  hash = 0;
  receivedAt = 0;
  valid = false;
  latitude = 0;
  longitude = 0;
  speed: number | undefined = undefined;
  course: number | undefined = undefined;
  unlocated = false;
  positionTime: number | undefined = undefined;
  odometerMm = 0;
  inputsKnown = 0;
  inputsActive = 0;
  sensor1 = 0;
  sensor2 = 0;
  sensor3 = 0;
  sensor4 = 0;
  movedAt = 0;
  hasAnchor = false;
  anchorTime = 0;
  anchorLatitude = 0;
  anchorLongitude = 0;
  underway = false;
  /** Where the doubted position is. -1 when there is none. */
  #doubted = -1;
  /** Where the way that is not counted yet is. -1 when there is none. */
  uncounted = -1;
  /** Where the alert members begin, which end where the extras begin. -1 when there are none. */
  alerts = -1;
  /** Where the extras begin, and where the record ends. */
  extras = 0;
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether the record that was read came with its position. */
  get hasOwnPosition(): boolean {
    return !this.unlocated && this.positionTime === undefined;
  }

  /** Whether the record that was read has a position, its own or the one before. */
  get isShown(): boolean {
    return !this.unlocated || this.hasAnchor;
  }

  get hasAlerts(): boolean {
    return this.alerts >= 0;
  }

  get hasNotFinite(): boolean {
    return hasNotFinite(this.bytes, this.extras, this.end);
  }

  appendAlerts(sink: ByteSink): void {
    sink.copy(this.bytes, this.alerts, this.extras);
  }

  appendExtras(sink: ByteSink): void {
    sink.copy(this.bytes, this.extras, this.end);
  }

  /** Reads the record behind the one that was read. Returns false when there is none. */
  next(): boolean {
    if (this.end >= this.bytes.length) return false;
    this.read(this.end);
    return true;
  }

  /** Reads only place, content key and end. Throws `RecordsDamaged` where the length can't be right, because the next record can't be found then. */
  readKey(at: number): void {
    const view = this.#view;
    const length = view.getUint32(at, true);
    if (length < fixedLength || length > this.bytes.length - at) throw new RecordsDamaged("a record's length is wrong");
    this.end = at + length;
    this.time = view.getFloat64(at + 8, true);
    this.hash = view.getFloat64(at + 16, true);
    this.arrival = view.getUint16(at + 4, true) & numbered ? view.getFloat64(at + fixedLength, true) : this.hash;
  }

  /** Whether the record has a position, its own or the one before. */
  isLocation(at: number): boolean {
    const flags = this.#view.getUint16(at + 4, true);
    return (flags & (unlocated | anchorOwn | hasAnchor)) !== unlocated;
  }

  read(start: number): void {
    const view = this.#view;
    this.readKey(start);
    const flags = view.getUint16(start + 4, true);
    this.valid = (flags & valid) !== 0;
    this.inputsKnown = view.getUint8(start + 6);
    this.inputsActive = view.getUint8(start + 7);
    this.latitude = view.getFloat64(start + 24, true);
    this.longitude = view.getFloat64(start + 32, true);
    this.odometerMm = view.getFloat64(start + 40, true);
    let at = start + fixedLength + (flags & numbered ? 8 : 0);
    this.receivedAt = flags & arrivalShort ? this.time + view.getUint32(at, true) : view.getFloat64(at, true);
    at += flags & arrivalShort ? 4 : 8;
    this.speed = undefined;
    if (flags & hasSpeed) {
      this.speed = flags & speedShort ? view.getUint16(at, true) : view.getFloat64(at, true);
      at += flags & speedShort ? 2 : 8;
    }
    this.course = undefined;
    if (flags & hasCourse) {
      this.course = flags & courseShort ? view.getUint16(at, true) : view.getFloat64(at, true);
      at += flags & courseShort ? 2 : 8;
    }
    this.positionTime = flags & hasPositionTime ? view.getFloat64(at, true) : undefined;
    if (flags & hasPositionTime) at += 8;
    this.#readTotals(at, flags);
  }

  #readTotals(start: number, flags: number): void {
    const view = this.#view;
    let at = start;
    const sensors = (flags & hasSensors) !== 0;
    this.sensor1 = sensors ? view.getFloat64(at, true) : 0;
    this.sensor2 = sensors ? view.getFloat64(at + 8, true) : 0;
    this.sensor3 = sensors ? view.getFloat64(at + 16, true) : 0;
    this.sensor4 = sensors ? view.getFloat64(at + 24, true) : 0;
    if (sensors) at += 32;
    this.movedAt = flags & hasMovedAt ? view.getFloat64(at, true) : this.time;
    if (flags & hasMovedAt) at += 8;
    this.hasAnchor = (flags & (anchorOwn | hasAnchor)) !== 0;
    const stored = (flags & hasAnchor) !== 0;
    this.anchorTime = stored ? view.getFloat64(at, true) : this.time;
    this.anchorLatitude = stored ? view.getFloat64(at + 8, true) : this.latitude;
    this.anchorLongitude = stored ? view.getFloat64(at + 16, true) : this.longitude;
    if (stored) at += 24;
    this.#doubted = (flags & hasDoubted) === hasDoubted ? at : -1;
    if (this.#doubted >= 0) at += 24;
    this.unlocated = (flags & unlocated) !== 0;
    if (this.unlocated) {
      this.latitude = this.hasAnchor ? this.anchorLatitude : 0;
      this.longitude = this.hasAnchor ? this.anchorLongitude : 0;
      this.positionTime = this.hasAnchor ? this.anchorTime : undefined;
    }
    this.underway = (flags & underway) !== 0;
    this.uncounted = flags & hasUncounted ? at : -1;
    if (flags & hasUncounted) at += 32;
    this.alerts = flags & hasAlerts ? at + 4 : -1;
    this.extras = flags & hasAlerts ? at + 4 + view.getUint32(at, true) : at;
  }

  #uncounted(at: number): Uncounted {
    return { from: this.#anchor(at), lengthMm: this.#view.getFloat64(at + 24, true) };
  }

  #anchor(at: number): Anchor {
    const double = (index: number) => this.#view.getFloat64(at + index * 8, true);
    return { time: double(0), latitude: double(1), longitude: double(2) };
  }

  /** The record that was read, as a value. */
  record(): LocationRecord {
    const { speed, course, positionTime } = this;
    return {
      time: this.time,
      arrival: this.arrival,
      hash: this.hash,
      receivedAt: this.receivedAt,
      valid: this.valid,
      latitude: this.latitude,
      longitude: this.longitude,
      ...(speed !== undefined && { speed }),
      ...(course !== undefined && { course }),
      ...(this.unlocated && { unlocated: true }),
      ...(positionTime !== undefined && { positionTime }),
      extras: this.bytes.toString("utf8", this.extras, this.end),
      ...(this.alerts >= 0 && { alerts: this.bytes.toString("utf8", this.alerts, this.extras) }),
      totals: {
        odometerMm: this.odometerMm,
        sensorMs: [this.sensor1, this.sensor2, this.sensor3, this.sensor4],
        movedAt: this.movedAt,
        inputsKnown: this.inputsKnown,
        inputsActive: this.inputsActive,
        ...(this.hasAnchor && {
          anchor: { time: this.anchorTime, latitude: this.anchorLatitude, longitude: this.anchorLongitude },
        }),
        ...(this.#doubted >= 0 && { doubted: this.#anchor(this.#doubted) }),
        ...(this.uncounted >= 0 && { uncounted: this.#uncounted(this.uncounted) }),
        ...(this.underway && { underway: true }),
      },
    };
  }
}

/** Records that follow each other in `bytes`, in their order. */
export function readRecords(bytes: Uint8Array): LocationRecord[] {
  const cursor = new RecordCursor(bytes);
  const records: LocationRecord[] = [];
  for (let at = 0; at < bytes.byteLength; at = cursor.end) {
    cursor.read(at);
    records.push(cursor.record());
  }
  return records;
}
