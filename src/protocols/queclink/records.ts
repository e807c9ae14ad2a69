import type { Effect, Report } from "../../model/effects.ts";
import { crc8Nrsc5 } from "../../wire/checksums.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, type Position, put, readingsOf } from "../../wire/report.ts";
import { within } from "./location.ts";
import type { Session } from "./session.ts";

/** Check byte and `$`. */
const trailer = 2;
/** Count number, check byte and `$`. */
const tail = 4;
/** A frame has at most this many records: each has nine bytes at least. */
const mostRecords = 256;

/** What a record's data are called, by their ID. */
const shortPosition = 0x51;
const longPosition = 0x52;
const battery = 0x61;

/**
 * A row: compares the check byte, CRC-8 with 0x31 from the first byte on. (GL601 V10, "Report" and "Heartbeat Data")
 */
function row(name: string, key: string, imeiAt: (frame: Uint8Array) => number, read: (frame: Uint8Array) => Effect[]) {
  return {
    name,
    keys: [key],
    handle(frame, session, { options }) {
      const id = imeiOf(frame, imeiAt(frame));
      const sound = crc8Nrsc5(frame, 0, frame.length - trailer) === frame[frame.length - trailer];
      if (!sound && options.checksums !== "ignore")
        return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
      const effects = read(frame);
      if (id !== session.id) effects.unshift({ type: "identify", ids: [id] });
      return { session: { id }, effects };
    },
  } satisfies MessageRow<Session>;
}

/** Sixteen digits of BCD: a zero and the IMEI. */
function imeiOf(frame: Uint8Array, at: number): string {
  return new Reader(frame, at).hex(8).slice(1);
}

/** The flag of a report of several packets puts their number in front of the IMEI. */
function reportImeiAt(frame: Uint8Array): number {
  return ((frame[4] ?? 0) & 0x80) === 0 ? 5 : 7;
}

/** A number of one byte, or of two whose highest bit is set. */
function variable(reader: Reader): number {
  const first = reader.u8();
  return first < 0x80 ? first : (first & 0x7f) * 0x100 + reader.u8();
}

/** Device type, versions, a reserved field, and records. A frame that begins with `-` comes from the memory. */
function readReport(frame: Uint8Array): Effect[] {
  const reader = new Reader(frame, reportImeiAt(frame) + 8, frame.length - tail);
  reader.skip(5);
  reader.skip(reader.u8());
  const effects: Effect[] = [];
  while (reader.remaining > 0 && effects.length < mostRecords) {
    const start = reader.offset;
    const end = start + variable(reader);
    if (end <= reader.offset || end > frame.length - tail) break;
    effects.push(readRecord(new Reader(frame, reader.offset, end), frame[0] === 0x2d));
    reader.seek(end);
  }
  return effects;
}

/** Time, count number, record ID, event code, and data, each with ID and length. */
function readRecord(reader: Reader, archive: boolean): Report {
  const generated = reader.u32() * 1000;
  reader.skip(2);
  const report = draft();
  report.attributes.record = reader.u8();
  report.attributes.event = reader.u8();
  if (archive) report.attributes.archive = true;
  let position: Position | undefined;
  while (reader.remaining > 1) {
    const id = variable(reader);
    const data = reader.take(Math.min(variable(reader), reader.remaining));
    if ((id === shortPosition && data.length >= 15) || (id === longPosition && data.length >= 22))
      position = readPosition(new Reader(data), id === longPosition, report);
    else if (id === battery && data.length >= 5) readBattery(new Reader(data), report);
    else report.attributes[`data${id.toString(16).toUpperCase()}`] = data.toHex();
  }
  return position === undefined ? readingsOf(report, generated) : fixOf(position, report);
}

/** State, longitude, latitude, time, speed; the long form adds accuracy, azimuth, altitude and satellites. */
function readPosition(reader: Reader, long: boolean, report: Draft): Position {
  const valid = ((reader.u8() >> 2) & 3) === 2;
  const longitude = reader.i32() / 1e6;
  const latitude = reader.i32() / 1e6;
  const position = { time: reader.u32() * 1000, valid, latitude, longitude, speed: reader.u16() / 10 };
  if (!long) return position;
  put(report, "hdop", reader.u8() / 10, "gnssAccuracy");
  const course = reader.u16();
  const altitude = ((reader.u24() << 8) >> 8) / 10;
  put(report, "satellites", reader.u8(), "satellitesInUse");
  return { ...position, course, altitude: within(altitude, -100_000, 100_000) };
}

/** State, voltage in mV, percentage, charging. */
function readBattery(reader: Reader, report: Draft): void {
  report.attributes.batteryState = reader.u8();
  put(report, "batteryVoltage", reader.u16() / 1000, "batteryMillivolts");
  put(report, "battery", reader.u8(), "batteryPercentage");
  report.attributes.chargingState = reader.u8();
}

/**
 * The messages of the record form of GL601 and its like. How a server acknowledges them stands in no manual at hand.
 */
export const recordRows: readonly MessageRow<Session>[] = [
  row("report of the record form", "record", reportImeiAt, readReport),
  row(
    "heartbeat of the record form",
    "record heartbeat",
    () => 3,
    () => [{ type: "ignored", reason: "heartbeat" }],
  ),
];
