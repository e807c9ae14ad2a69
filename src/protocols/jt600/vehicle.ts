import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise } from "../../wire/report.ts";
import { headLength } from "./framer.ts";
import { putNetwork, readPlace } from "./place.ts";
import { decoded, type Handler, malformed } from "./session.ts";

/** Types of data that come from the memory. */
const archived: ReadonlySet<number> = new Set([3, 4]);

/** Reads the ten bytes that a record has behind its place; gives the altitude back, where they have one. */
type ReadRest = (reader: Reader, report: Draft) => number | undefined;

/** Personal trackers: satellites, battery, flags, altitude, cell, area, signal. */
export const readPersonal: ReadRest = (reader, report) => {
  put(report, "satellites", reader.u8(), "gpsSatellites");
  put(report, "battery", reader.u8(), "batteryLevel");
  const flags = reader.u8();
  if (flags !== 0) report.attributes.flags = flags;
  const altitude = reader.i16();
  const cellId = reader.u16();
  putNetwork({ cellId, lac: reader.u16(), signal: reader.u8() }, report);
  return altitude;
};

/** Bits of the second and third byte of the status that are alarms. */
const alarmBits: readonly (readonly [index: number, alarm: Alarm])[] = [
  [18, "sos"],
  [19, "gpsAntennaCut"],
  [20, "overspeed"],
  [10, "fatigueDriving"],
  [11, "tow"],
];

/**
 * Vehicle trackers: high byte of the fuel sensor's value, four bytes of status, mileage in km, low byte of the sensor's
 * value.
 */
export const readVehicle: ReadRest = (reader, report) => {
  const { readings, attributes } = report;
  const fuelHigh = reader.u8();
  const status = reader.u32();
  readings.ignition = bit(status, 24);
  readings.doorOpen = bit(status, 30);
  readings.charging = bit(status, 16);
  readings.blocked = bit(status, 17);
  for (const [index, alarm] of alarmBits) if (bit(status, index)) raise(report, alarm);
  attributes.status = status;
  put(report, "odometer", reader.u32(), "mileage");
  const fuel = fuelHigh * 256 + reader.u8();
  // Trackers without a sensor send 0.
  if (fuel !== 0) attributes.fuelSensor = fuel;
  return undefined;
};

/** Trackers of several tanks: three values of 12 bits, mileage of 20, status of 24. */
export const readTanks: ReadRest = (reader, report) => {
  const { readings, attributes } = report;
  const first = reader.u24();
  const second = reader.u16();
  const third = reader.u16();
  attributes.fuelSensor1 = first >> 12;
  attributes.fuelSensor2 = first & 0xfff;
  attributes.fuelSensor3 = second >> 4;
  put(report, "odometer", (second & 0x0f) * 65_536 + third, "mileage");
  const status = reader.u24();
  readings.ignition = bit(status, 0);
  attributes.status = status;
  return undefined;
};

/** Bytes of a record behind its place. */
const restLength = 10;

/** A type that no document at hand tells of: its place is read, and the rest kept. */
export const readUnknown: ReadRest = (reader, report) => {
  report.attributes.unread = reader.hex(restLength);
  return undefined;
};

/** `$`, identifier, type, length, records of 27 bytes, serial number. */
export function recordsHandler(readRest: ReadRest): Handler {
  return (frame, session) => {
    const head = new Reader(frame, 1);
    const id = head.hex(5);
    const type = head.u8() & 0x0f;
    if (!/^\d{10}$/.test(id) || head.u16() !== frame.length - headLength) return { session, effects: [malformed] };
    const reader = new Reader(frame, headLength - 1, frame.length - 1);
    const effects: Effect[] = [];
    while (reader.remaining > 0) {
      const report = draft();
      const position = readPlace(reader, report);
      if (position === undefined) return { session, effects: [malformed] };
      if (archived.has(type)) report.attributes.archive = true;
      const altitude = readRest(reader, report);
      effects.push(fixOf({ ...position, altitude }, report));
    }
    return decoded(session, id, effects);
  };
}
