import type { Alarm } from "../../model/alarms.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { positionOf, readAcc, readDate } from "./gps.ts";
import { acknowledged, type Handler, row } from "./row.ts";
import type { Session } from "./session.ts";

/** Event codes of the car cameras (JC100, 2017-08-30). */
const events: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [0x01, "sos"],
  [0x0e, "lowPower"],
  [0x76, "temperature"],
  [0x80, "vibration"],
  [0x87, "overspeed"],
  [0x88, "powerCut"],
  [0x90, "hardAcceleration"],
  [0x91, "hardBraking"],
  [0x92, "hardCornering"],
  [0x93, "accident"],
]);

/** `placed`: code 1 is the SOS key only in the messages with a place. */
function readEvent(reader: Reader, report: Draft, placed: boolean): void {
  const event = reader.u8();
  report.attributes.event = event;
  const alarm = event === 0x01 && !placed ? undefined : events.get(event);
  raise(report, alarm ?? "general");
  if (alarm === undefined) report.attributes.alarmCode = event;
}

/** Event data and the names of the pictures and videos that were taken. */
function readFiles(reader: Reader, report: Draft): void {
  if (reader.remaining < 2) return;
  report.attributes.eventData = reader.u16();
  if (reader.remaining > 0) report.attributes.eventFiles = reader.latin1(reader.remaining);
}

/** Without a place: date and event. */
const event: Handler = (message, session) => {
  const report = draft();
  const time = readDate(message.reader);
  readEvent(message.reader, report, false);
  readFiles(message.reader, report);
  return acknowledged(message, session, readingsOf(report, time));
};

/** With a place, and no speed or satellites. */
const placed: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const time = readDate(reader);
  const latitude = reader.u32();
  const longitude = reader.u32();
  const status = reader.u16();
  readAcc(report, status);
  const position = positionOf(time, latitude, longitude, undefined, status);
  readEvent(reader, report, true);
  readFiles(reader, report);
  return acknowledged(message, session, fixOf(position, report));
};

/**
 * JC400: marker 0xFFFF and version; the speed of two bytes stands behind course and status; then the supply in tenths
 * of a volt.
 */
const jc400: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  reader.skip(3);
  const time = readDate(reader);
  report.readings.satellites = reader.u8() & 0x0f;
  const latitude = reader.u32();
  const longitude = reader.u32();
  const status = reader.u16();
  const speed = reader.u16();
  readAcc(report, status);
  put(report, "externalVoltage", reader.u16() / 10, "supply");
  const position = positionOf(time, latitude, longitude, speed, status);
  readEvent(reader, report, true);
  readFiles(reader, report);
  return acknowledged(message, session, fixOf(position, report));
};

/** Whether the content begins with the marker of JC400; a year can't. */
function isMarked(frame: Uint8Array): boolean {
  const at = frame[0] === 0x79 ? 5 : 4;
  return frame[at] === 0xff && frame[at + 1] === 0xff;
}

const keys = [0x95];

/** 0x95: events of car cameras. */
export const eventRows: readonly MessageRow<Session>[] = [
  { ...row("event (JC400)", keys, jc400), when: isMarked },
  row("event", keys, event, (size) => size <= 9),
  row("event with place", keys, placed),
];
