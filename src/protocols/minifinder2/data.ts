import type { Effect } from "../../model/effects.ts";
import { putCsq } from "../../wire/radio.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { put } from "../../wire/report.ts";
import { readAlarms } from "./alarms.ts";
import type { Item } from "./envelope.ts";
import { coordinates, effectOf, type Group, macOf, newGroup, putHdop, secondsOf, textOf } from "./group.ts";
import { accessPoints, beacon, cells, place, wifiPlace } from "./surroundings.ts";

/** A key of the data that a device sends: bytes that its value has at least, and what it says. */
interface Part {
  readonly least: number;
  readonly read: (group: Group, reader: Reader) => void;
}

const identifier = 0x01;
/** Keys of beacons, of which a report may have several. */
const repeated: ReadonlySet<number> = new Set([0x28, 0x2c]);

/** Keys of data (EV-07B 1.2, 3.1, and what later devices send). */
const parts: ReadonlyMap<number, Part> = new Map<number, Part>([
  [identifier, { least: 0, read: () => undefined }],
  [0x02, { least: 4, read: alarm }],
  [0x10, { least: 0, read: () => undefined }],
  [0x14, { least: 3, read: battery }],
  [0x19, { least: 0, read: (group, reader) => accessPoints(group, reader, true) }],
  [0x20, { least: 21, read: position }],
  [0x21, { least: 3, read: (group, reader) => cells(group, reader, reader.u16le(), reader.u8(), 2) }],
  [0x22, { least: 0, read: (group, reader) => accessPoints(group, reader, false) }],
  [0x23, { least: 6, read: place }],
  [0x24, { least: 8, read: general }],
  [0x25, { least: 8, read: call }],
  [0x26, { least: 18, read: smartPlace }],
  [0x27, { least: 12, read: smartPlace }],
  [0x28, { least: 9, read: (group, reader) => beacon(group, reader, false) }],
  [0x29, { least: 3, read: (group, reader) => cells(group, reader, reader.u16le(), reader.u8(), 4) }],
  [0x2a, { least: 8, read: wifiPlace }],
  [0x2b, { least: 4, read: (group, reader) => cells(group, reader, reader.u16le(), reader.u16le(), 4) }],
  [0x2c, { least: 10, read: (group, reader) => beacon(group, reader, true) }],
  [0x30, { least: 8, read: steps }],
  [0x31, { least: 8, read: activity }],
  [0x37, { least: 8, read: barking }],
  [0x40, { least: 5, read: heartRate }],
  [0x41, { least: 5, read: bloodOxygen }],
]);

/** Reports of a message: a key that comes again begins the next one. */
export function readData(bytes: Uint8Array, items: readonly Item[]): readonly Effect[] {
  const effects: Effect[] = [];
  const seen = new Set<number>();
  let group = newGroup();
  for (const { key, from, to } of items) {
    if (seen.has(key) && !repeated.has(key)) {
      effects.push(effectOf(group));
      group = newGroup();
      seen.clear();
    }
    seen.add(key);
    const part = parts.get(key);
    if (part !== undefined && to - from >= part.least) part.read(group, new Reader(bytes, from, to));
    else if (to > from) group.report.attributes[keyName(key)] = bytes.subarray(from, to).toHex();
  }
  effects.push(effectOf(group));
  return effects;
}

/** The name of a key that nothing is known of, or whose value is too short. */
function keyName(key: number): string {
  return `key${key.toString(16).padStart(2, "0")}`;
}

function alarm(group: Group, reader: Reader): void {
  readAlarms(group.report, reader.u32le());
  if (reader.remaining >= 4) group.eventTime = secondsOf(reader);
}

function battery({ report }: Group, reader: Reader): void {
  put(report, "battery", reader.u8(), "batteryLevel");
  put(report, "batteryVoltage", reader.u16le() / 1000, "batteryVolts");
}

/** GPS: place, km/h, degrees, m, HDOP in tenths (0: no fix), metres in total, satellites. */
function position(group: Group, reader: Reader): void {
  const { report } = group;
  const where = coordinates(reader);
  const [speed, course, altitude, hdop] = [reader.u16le(), reader.u16le(), reader.i16le(), reader.u16le()];
  group.place = { valid: hdop > 0, ...where, speed, course, altitude };
  putHdop(report, hdop);
  put(report, "odometer", reader.u32le() / 1000, "mileage");
  put(report, "satellites", reader.u8(), "satelliteCount");
}

/** Time and status: how the place was found, charging, from memory (7), motion (9), work mode, signal, battery. */
function general(group: Group, reader: Reader): void {
  const { report } = group;
  group.time = secondsOf(reader);
  const status = reader.u32le();
  report.readings.charging = bit(status, 4);
  report.readings.motion = bit(status, 9);
  if (bit(status, 7)) report.attributes.archive = true;
  report.attributes.workMode = (status >>> 16) & 7;
  putCsq(report, "rssi", (status >>> 19) & 0x1f, "gsmSignal");
  put(report, "battery", status >>> 24, "batteryLevel");
  report.attributes.status = status;
  if (reader.remaining >= 4) report.attributes.extendedStatus = reader.u32le();
}

/** A call: time, its kind, seconds, how it went, and the number. */
function call(group: Group, reader: Reader): void {
  const { attributes } = group.report;
  group.eventTime = secondsOf(reader);
  attributes.callStatus = reader.u8();
  attributes.callDuration = reader.u16le();
  attributes.callResult = reader.u8();
  attributes.phone = textOf(reader);
}

/** A place of another source: with a beacon's address (0x26) or without (0x27), then HDOP and altitude. */
function smartPlace(group: Group, reader: Reader): void {
  if (reader.remaining >= 18) group.report.attributes.tagId = macOf(reader);
  const where = coordinates(reader);
  putHdop(group.report, reader.u16le());
  group.place = { valid: true, ...where, altitude: reader.i16le() };
}

function steps(group: Group, reader: Reader): void {
  group.eventTime = secondsOf(reader);
  put(group.report, "steps", reader.u32le(), "stepCount");
}

/** Pairs of a time and what was counted up to it. */
function activity(group: Group, reader: Reader): void {
  for (let index = 1; reader.remaining >= 8; index++) {
    const time = secondsOf(reader);
    group.eventTime ??= time;
    group.report.attributes[`activity${index}Time`] = time / 1000;
    group.report.attributes[`activity${index}`] = reader.u32le();
  }
}

/** Barks that were counted; the highest bit says that the barking is over. */
function barking(group: Group, reader: Reader): void {
  group.eventTime = secondsOf(reader);
  const count = reader.u32le();
  if (bit(count, 31)) group.report.attributes.barkStop = true;
  group.report.attributes.barkCount = count & 0x7fff_ffff;
}

/** Up to 1: not measured. */
function heartRate(group: Group, reader: Reader): void {
  group.eventTime = secondsOf(reader);
  const value = reader.u8();
  if (value > 1) put(group.report, "heartRate", value, "pulse");
}

function bloodOxygen(group: Group, reader: Reader): void {
  group.eventTime = secondsOf(reader);
  const value = reader.u8();
  if (value > 1) put(group.report, "bloodOxygen", value, "spO2");
}
