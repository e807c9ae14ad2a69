import type { Alarm } from "../../model/alarms.ts";
import type { Fix, ReadingsReport } from "../../model/effects.ts";
import type { DecodeContext } from "../../wire/protocol.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, type Position, put, raise } from "../../wire/report.ts";
import { bcdTime } from "../../wire/time.ts";
import { readItems } from "./items.ts";

const hour = 3_600_000;

/**
 * Times are those of Beijing (4.2 of the standard); the tag `format` of the device, `UTC` or `UTC+3`, says that its
 * clock goes otherwise.
 */
export function clockOffset({ options }: DecodeContext): number {
  if (options.format === undefined) return 8 * hour;
  const [, sign, hours = "0", minutes = "0"] = /^UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?$/.exec(options.format) ?? [];
  if (!options.format.startsWith("UTC")) return 8 * hour;
  return (sign === "-" ? -1 : 1) * (Number(hours) * hour + Number(minutes) * 60_000);
}

/** BCD[6]: year to second. Undefined where it is no date. */
export function readTime(reader: Reader, context: DecodeContext): number | undefined {
  const at = reader.offset;
  reader.skip(6);
  return bcdTime(reader.bytes, at, clockOffset(context));
}

/** Bits of the alarm flags (table 24) by their number; `general` is told with its bit as the code. */
const alarmBits: readonly (Alarm | undefined)[] = [
  "sos",
  "overspeed",
  "fatigueDriving",
  "general",
  "fault",
  "gpsAntennaCut",
  "gpsAntennaCut",
  "lowPower",
  "powerCut",
  "fault",
  "fault",
  "fault",
  "fault",
  "overspeed",
  "fatigueDriving",
  "vibration",
  "tampering",
  "tampering",
  "fatigueDriving",
  "parking",
  "geofence",
  "geofence",
  "general",
  "geofence",
  "fault",
  "fuelLeak",
  "general",
  "general",
  "movement",
  "accident",
  "accident",
  "doorOpened",
];

/**
 * Of 2019: illegal driving, tyre pressure, blind spot of a right turn; makers used these bits for other alarms before.
 */
const of2019: readonly number[] = [15, 16, 17];

const padlocks: ReadonlySet<string> = new Set(["G-360P", "G-508P"]);
const aovxModels: ReadonlySet<string> = new Set(["AL300", "GL100"]);

function readAlarms(flags: number, report: Draft, model: string | undefined, version: number | undefined): void {
  if (flags === 0) return;
  report.attributes.alarmFlags = flags;
  if (model !== undefined && padlocks.has(model)) {
    if (bit(flags, 0) || bit(flags, 4)) raise(report, "removing");
    if (bit(flags, 1)) raise(report, "tampering");
    return;
  }
  if (model !== undefined && aovxModels.has(model)) {
    if (bit(flags, 16)) raise(report, "movement");
    return;
  }
  for (let number = 0; number < 32; number++) {
    if (!bit(flags, number)) continue;
    if (model === "VL300" && (number === 29 || number === 30)) continue;
    const alarm = version !== undefined && of2019.includes(number) ? "general" : alarmBits[number];
    if (alarm === undefined) continue;
    raise(report, alarm);
    if (alarm === "general") report.attributes.alarmCode = number;
  }
}

const loads = ["empty", "half", "reserved", "full"] as const;

/** Status bits (table 25). Makers use bit 26 for the charger. */
function readStatus(status: number, report: Draft, model: string | undefined): void {
  const { readings, attributes } = report;
  readings.ignition = bit(status, 0);
  readings.blocked = bit(status, 10);
  if (bit(status, 11)) attributes.circuitCut = true;
  readings.locked = bit(status, 12);
  readings.doorOpen = model === "MV810G" || model === "MV710G" ? bit(status, 16) : (status & 0x3e000) !== 0;
  readings.charging = bit(status, 26);
  if (model === "G1C Pro") readings.motion = bit(status, 4);
  const load = loads[(status >>> 8) & 3];
  if (load !== undefined && load !== "empty") attributes.load = load;
  if (bit(status, 4) && model !== "G1C Pro") attributes.outOfService = true;
  if (bit(status, 5)) attributes.encryptedCoordinates = true;
}

/** Status, latitude and longitude. */
export function readPlace(reader: Reader, report: Draft, context: DecodeContext): Position {
  const status = reader.u32();
  readStatus(status, report, context.options.model);
  const latitude = reader.u32() / 1e6;
  const longitude = reader.u32() / 1e6;
  return {
    time: undefined,
    valid: bit(status, 1),
    latitude: bit(status, 2) && latitude > 0 ? -latitude : latitude,
    longitude: bit(status, 3) && longitude > 0 ? -longitude : longitude,
  };
}

/** Altitude m, speed 0.1 km/h, direction and time, which follow a place. */
export function readMovement(reader: Reader, place: Position, context: DecodeContext): Position {
  const { valid, latitude, longitude } = place;
  const altitude = reader.i16();
  const speed = reader.u16() / 10;
  const course = reader.u16();
  const time = readTime(reader, context);
  return { time, valid, latitude, longitude, altitude, speed, course };
}

/** Older trackers have no list of items: fuel, voltage and mileage stand in 18 bytes (JT/T 808 of Huabao, 0x0200). */
function readFixedTail(reader: Reader, report: Draft): void {
  reader.skip(4);
  put(report, "odometer", reader.u32(), "mileage");
  put(report, "batteryVoltage", reader.u16() / 10, "batteryPower");
  report.attributes.areaId = reader.u32();
  report.attributes.signalStrength = reader.u8();
}

/** Whether bytes are a list of items: id, length, value, up to the end. */
function isList(reader: Reader): boolean {
  let ahead = 0;
  while (ahead + 2 <= reader.remaining) ahead += 2 + reader.peek(ahead + 1);
  return ahead === reader.remaining;
}

/** 0x0200 "Location report": alarm flags, status, place, time, and a list of additional items. */
export function readLocation(
  reader: Reader,
  context: DecodeContext,
  version: number | undefined,
  archive = false,
): Fix | ReadingsReport {
  const report = draft();
  const { model } = context.options;
  readAlarms(reader.u32(), report, model, version);
  const position = readMovement(reader, readPlace(reader, report, context), context);
  if (archive) report.attributes.archive = true;
  if (reader.remaining === 18 && !isList(reader)) readFixedTail(reader, report);
  else readItems(reader, report, { model, aovx: model !== undefined && aovxModels.has(model), cells: [], wifi: [] });
  return fixOf(position, report);
}
