import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { DeviceKey } from "../../model/device.ts";
import type { Day, DeviceHead, FoldPoint, LateSpan } from "../../model/follow.ts";
import type { Anchor, Totals, TotalsSums } from "../../model/location.ts";
import { RecordsDamaged } from "../positions/damage.ts";
import { PackedCursor, putRecord } from "../positions/packed-record.ts";
import { ByteSink } from "../positions/sink.ts";
import { written } from "./json-columns.ts";

/*
 * A head or a day as bytes, little endian:
 *   0 u8 form: 1 as it is, 2 under zstd   1 u32 bytes of the body before zstd   5 the body
 *   at the end u32 CRC-32 of the device's key, the day (of a head -1) and all before
 * A head's body: u8 flags, f64 each of the sums before, f64 event time before which records are deleted, u32 spans of
 * late records and of each three f64, the newest record, the newest one with a position, what rules found as JSON,
 * their states, today. What is optional is there where a flag says so. A day's body: f64 day, u32 points, the point
 * before, the points, the point at its end. A point: u8 flags, f64 time, u32 records, totals, states of rules. Texts:
 * u32 bytes, UTF-8.
 */
const plain = 1;
const zstd = 2;
const bodyAt = 5;
const sumBytes = 4;
/** Less gains nothing from zstd. */
const smallBytes = 1024;
/** More than any head or day has: what would be larger is damaged. */
const mostBytes = 512 * 1024 * 1024;

const hasNewest = 1;
const hasLocated = 2;
/** The newest record is the newest one with a position. */
const isSame = 4;
const hasFound = 8;
const hasRules = 16;
const hasToday = 32;
const hasKeptFrom = 64;

const hasTime = 1;
const hasStates = 2;

/** Beside the inputs of totals. */
const hasAnchor = 1 << 16;
const hasUncounted = 1 << 17;
const isUnderway = 1 << 18;
const hasDoubted = 1 << 19;

const dayMs = 86_400_000;
const ofHead = -1;
/** One for all: it holds nothing between two calls. */
const sink = new ByteSink(64 * 1024);

/** A device's head as bytes. */
export function headBytes(device: DeviceKey, head: DeviceHead): Uint8Array {
  return sealed(device, ofHead, () => putHead(head));
}

/** A device's day as bytes. */
export function dayBytes(device: DeviceKey, day: Day): Uint8Array {
  return sealed(device, day.day, () => putDay(day));
}

/** The head that `headBytes` made these of. Throws `RecordsDamaged`. */
export function headOf(device: DeviceKey, bytes: Uint8Array): DeviceHead {
  return new Reading(opened(device, ofHead, bytes)).head();
}

/** The day that `dayBytes` made these of. Throws `RecordsDamaged`. */
export function dayOf(device: DeviceKey, day: number, bytes: Uint8Array): Day {
  return new Reading(opened(device, day, bytes)).day();
}

/** What of a day stands in columns of its own, for SQL. The bytes have it too. */
export function dayColumns({ day, end: { time = day * dayMs, totals, records } }: Day) {
  const [sensor1_ms, sensor2_ms, sensor3_ms, sensor4_ms] = totals.sensorMs;
  return { odometer_mm: totals.odometerMm, sensor1_ms, sensor2_ms, sensor3_ms, sensor4_ms, records, last: time };
}

function sealed(device: DeviceKey, day: number, putBody: () => void): Uint8Array {
  sink.length = 0;
  putBody();
  const body = sink.written;
  const isSmall = body.byteLength < smallBytes;
  const packed = isSmall ? body : zstdCompressSync(body);
  const bytes = new Uint8Array(bodyAt + packed.byteLength + sumBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = isSmall ? plain : zstd;
  view.setUint32(1, body.byteLength, true);
  bytes.set(packed, bodyAt);
  view.setUint32(bytes.byteLength - sumBytes, checksum(device, day, bytes), true);
  sink.shrink(1024 * 1024);
  return bytes;
}

function opened(device: DeviceKey, day: number, bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.byteLength - sumBytes;
  if (end < bodyAt || view.getUint32(end, true) !== checksum(device, day, bytes))
    throw new RecordsDamaged("its checksum is wrong");
  const body = bytes.subarray(bodyAt, end);
  if (bytes[0] === plain) return body;
  const length = view.getUint32(1, true);
  if (bytes[0] !== zstd || length > mostBytes) throw new RecordsDamaged("it is of a newer version");
  try {
    return zstdDecompressSync(body, { maxOutputLength: Math.max(1, length) });
  } catch {
    throw new RecordsDamaged("it can't be decompressed");
  }
}

/** The key and the day are part of it, so that what belongs elsewhere never passes. */
function checksum(device: DeviceKey, day: number, bytes: Uint8Array): number {
  const names = new Uint8Array(new Float64Array([device, day]).buffer);
  return crc32(bytes.subarray(0, bytes.byteLength - sumBytes), crc32(names));
}

function putHead({ newest, located, found, today, sumsBefore, late, rules, keptFrom }: DeviceHead): void {
  const same = located !== undefined && located === newest ? isSame : 0;
  const records = (newest ? hasNewest : 0) | (located ? hasLocated : 0) | same;
  const texts = (found ? hasFound : 0) | (rules === undefined ? 0 : hasRules);
  sink.byte(records | texts | (today ? hasToday : 0) | (keptFrom === undefined ? 0 : hasKeptFrom));
  putSums(sumsBefore);
  if (keptFrom !== undefined) sink.float64(keptFrom);
  sink.uint32(late.length);
  for (const { day, from, to } of late) for (const value of [day, from, to]) sink.float64(value);
  if (newest !== undefined) putRecord(sink, newest);
  if (located !== undefined && !same) putRecord(sink, located);
  if (found !== undefined) putText(JSON.stringify(found));
  if (rules !== undefined) putText(rules);
  if (today !== undefined) putDay(today);
}

function putDay({ day, before, points, end }: Day): void {
  sink.float64(day);
  sink.uint32(points.length);
  for (const point of [before, ...points, end]) putPoint(point);
}

function putPoint({ time, totals, records, rules }: FoldPoint): void {
  sink.byte((time === undefined ? 0 : hasTime) | (rules === undefined ? 0 : hasStates));
  if (time !== undefined) sink.float64(time);
  sink.uint32(records);
  putTotals(totals);
  if (rules !== undefined) putText(rules);
}

function putTotals(totals: Totals): void {
  const { anchor, doubted, uncounted, underway } = totals;
  const places = (anchor ? hasAnchor : 0) | (doubted ? hasDoubted : 0) | (uncounted ? hasUncounted : 0);
  sink.uint32(totals.inputsKnown | (totals.inputsActive << 8) | places | (underway ? isUnderway : 0));
  putSums(totals);
  sink.float64(totals.movedAt);
  if (anchor !== undefined) putAnchor(anchor);
  if (doubted !== undefined) putAnchor(doubted);
  if (uncounted === undefined) return;
  putAnchor(uncounted.from);
  sink.float64(uncounted.lengthMm);
}

function putSums({ odometerMm, sensorMs }: TotalsSums): void {
  sink.float64(odometerMm);
  for (const ms of sensorMs) sink.float64(ms);
}

function putAnchor({ time, latitude, longitude }: Anchor): void {
  for (const value of [time, latitude, longitude]) sink.float64(value);
}

function putText(text: string): void {
  const start = sink.length + 4;
  sink.uint32(0);
  sink.text(text);
  sink.view.setUint32(start - 4, sink.length - start, true);
}

/** Reads a body from its beginning to its end. */
class Reading {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(body: Uint8Array) {
    this.#bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  }

  head(): DeviceHead {
    const flags = this.#byte();
    const sumsBefore = this.#sums();
    const keptFrom = flags & hasKeptFrom ? this.#double() : undefined;
    const late: LateSpan[] = [];
    for (let left = this.#uint32(); left > 0; left--)
      late.push({ day: this.#double(), from: this.#double(), to: this.#double() });
    const newest = flags & hasNewest ? this.#record() : undefined;
    const located = flags & isSame ? newest : flags & hasLocated ? this.#record() : undefined;
    const found = flags & hasFound ? written<NonNullable<DeviceHead["found"]>>(this.#text()) : undefined;
    const rules = flags & hasRules ? this.#text() : undefined;
    const today = flags & hasToday ? this.day() : undefined;
    return {
      ...(newest && { newest }),
      ...(located && { located }),
      ...(found && { found }),
      ...(today && { today }),
      sumsBefore,
      late,
      ...(rules !== undefined && { rules }),
      ...(keptFrom !== undefined && { keptFrom }),
    };
  }

  day(): Day {
    const day = this.#double();
    const count = this.#uint32();
    const before = this.#point();
    const points: FoldPoint[] = [];
    while (points.length < count) points.push(this.#point());
    return { day, before, points, end: this.#point() };
  }

  #point(): FoldPoint {
    const flags = this.#byte();
    const time = flags & hasTime ? this.#double() : undefined;
    const records = this.#uint32();
    const totals = this.#totals();
    return { time, totals, records, ...(flags & hasStates && { rules: this.#text() }) };
  }

  #totals(): Totals {
    const bits = this.#uint32();
    const sums = this.#sums();
    const movedAt = this.#double();
    const anchor = bits & hasAnchor ? this.#anchor() : undefined;
    const doubted = bits & hasDoubted ? this.#anchor() : undefined;
    const uncounted = bits & hasUncounted ? { from: this.#anchor(), lengthMm: this.#double() } : undefined;
    return {
      ...sums,
      movedAt,
      inputsKnown: bits & 0xff,
      inputsActive: (bits >> 8) & 0xff,
      ...(anchor && { anchor }),
      ...(doubted && { doubted }),
      ...(uncounted && { uncounted }),
      ...(bits & isUnderway && { underway: true as const }),
    };
  }

  #sums(): TotalsSums {
    const odometerMm = this.#double();
    return { odometerMm, sensorMs: [this.#double(), this.#double(), this.#double(), this.#double()] };
  }

  #anchor(): Anchor {
    return { time: this.#double(), latitude: this.#double(), longitude: this.#double() };
  }

  #record() {
    const cursor = new PackedCursor(this.#bytes);
    cursor.read(this.#at);
    this.#at = cursor.end;
    return cursor.record();
  }

  #text(): string {
    const length = this.#uint32();
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.byteLength) throw new RecordsDamaged("a text is cut short");
    return this.#bytes.toString("utf8", start, this.#at);
  }

  #byte(): number {
    return this.#view.getUint8(this.#at++);
  }

  #uint32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  #double(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }
}
