import type { Alarm } from "../../model/alarms.ts";
import type { Effect, Report } from "../../model/effects.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { withCell } from "./cells.ts";
import { attributes, family, flags, numbers, put, type Sink, unknownName } from "./elements.ts";

/** 1 January 2007, from which the GH3000 counts seconds. */
const epoch = Date.UTC(2007, 0, 1);

const tables = family(
  numbers("u1", 1, { 1: "battery" }, { max: 100 }),
  flags("u1", { 2: "powerConnected", 240: "motion" }),
  numbers("u2", 10, { 20: "hdop", 21: "vdop", 22: "pdop" }),
  numbers("u2", 1000, { 67: "batteryVoltage" }),
  attributes("u4", 1, { 5: "uptime" }),
  flags("u1", { 244: "roaming" }),
  attributes("u1", 1, { 221: "button", 222: "alarm" }),
);

interface Position {
  latitude?: number;
  longitude?: number;
  altitude?: number;
  course?: number;
  speed?: number;
}

/**
 * Codec 7 of the GH3000 ("GH3000 AVL data protocol"): masks tell which fields follow. Bytes [start, end) of the packet:
 * codec id, count, records, count. Undefined where the counts differ or the records do not fill it exactly.
 */
export function ghRecords(packet: Uint8Array, start: number, end: number): Effect[] | undefined {
  const reader = new Reader(packet, start + 1, end);
  const count = reader.u8();
  const effects: Effect[] = [];
  for (let index = 0; index < count; index++) effects.push(record(reader));
  return reader.remaining === 1 && reader.u8() === count ? effects : undefined;
}

function record(reader: Reader): Report {
  const stamp = reader.u32();
  const time = epoch + (stamp & 0x3fff_ffff) * 1000;
  const priority = stamp >>> 30;
  const sink: Sink = { readings: {}, attributes: priority === 0 ? {} : { priority }, iccidHigh: undefined };
  const mask = reader.u8();
  const position: Position = bit(mask, 0) ? gps(reader, sink) : {};
  const alarms: Alarm[] = [];
  if (bit(mask, 1)) group(reader, 1, sink, alarms);
  if (bit(mask, 2)) group(reader, 2, sink, alarms);
  if (bit(mask, 3)) group(reader, 4, sink, alarms);
  const { latitude, longitude, ...motion } = position;
  const rest = { alarms, readings: sink.readings, attributes: withCell(sink.attributes) };
  if (latitude === undefined || longitude === undefined || !(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
    return { type: "readings", time, ...rest };
  return { type: "fix", time, valid: sink.readings.satellites !== 0, latitude, longitude, ...motion, ...rest };
}

/** The GPS element, each field only where its bit of the mask says so. */
function gps(reader: Reader, sink: Sink): Position {
  const mask = reader.u8();
  const position: Position = {};
  if (bit(mask, 0)) {
    const latitude = reader.f32();
    const longitude = reader.f32();
    if (latitude !== undefined && longitude !== undefined) {
      position.latitude = degrees(latitude);
      position.longitude = degrees(longitude);
    }
  }
  if (bit(mask, 1)) position.altitude = reader.i16();
  if (bit(mask, 2)) position.course = (reader.u8() * 360) / 256;
  if (bit(mask, 3)) position.speed = reader.u8();
  if (bit(mask, 4)) sink.readings.satellites = reader.u8();
  if (bit(mask, 5)) {
    sink.attributes.gsmAreaCode = reader.u16();
    sink.attributes.gsmCellId = reader.u16();
  }
  if (bit(mask, 6)) sink.attributes.gsmSignalQuality = reader.u8();
  if (bit(mask, 7)) sink.attributes.activeGsmOperator = reader.u32();
  return position;
}

/** A 32-bit float is good for six digits behind the point at most; those that follow are noise. */
function degrees(float: number): number {
  return Math.round(float * 1e6) / 1e6 + 0; // no -0
}

function group(reader: Reader, width: 1 | 2 | 4, sink: Sink, alarms: Alarm[]): void {
  const table = width === 1 ? tables.one : width === 2 ? tables.two : tables.four;
  for (let left = reader.u8(); left > 0; left--) {
    const id = reader.u8();
    const value = width === 1 ? reader.u8() : width === 2 ? reader.u16() : reader.u32();
    const row = table.get(id);
    if (row === undefined) sink.attributes[unknownName(id)] = value;
    else put(row, value, sink);
    // The alarm element: 1 is the SOS button.
    if (id === 222 && width === 1 && value === 1) alarms.push("sos");
  }
}
