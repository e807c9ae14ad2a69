import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded, MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, raise, readingsOf } from "../../wire/report.ts";
import { Writer } from "../../wire/writer.ts";
import { readAccessPoints, readCells } from "./cells.ts";
import { open, serialOffset } from "./envelope.ts";
import { packedDate, positionOf, readAcc, readDate } from "./gps.ts";
import { bareRow } from "./row.ts";
import type { Session } from "./session.ts";
import { bareSizes, cellSizeOf, hasSize } from "./unsealed.ts";

/**
 * The messages of ZhongXun Topin's trackers, without serial number and checksum (Locator Communication Protocol 180612;
 * the sections are named by the messages' numbers). Most are one-way: answers are asked for by 0x01, 0x10, 0x11, 0x13,
 * 0x17, 0x30, 0x57, 0x58, 0x69 and 0x98.
 */

/** Where the data behind the protocol number begins. */
const dataAt = 4;

function answer(length: number, type: number, data: Uint8Array): Uint8Array {
  return new Writer(6 + data.length).u16(0x7878).u8(length).u8(type).raw(data).u16(0x0d0a).done();
}

function stored(length: number, type: number, data: Uint8Array): Effect {
  return { type: "reply", bytes: answer(length, type, data), when: "stored" };
}

/** A request of the tracker, answered once it is known who asks. */
function request(session: Session, reason: string, length: number, type: number, data: Uint8Array): Decoded<Session> {
  return {
    session,
    effects: [
      { type: "ignored", reason },
      { type: "reply", bytes: answer(length, type, data), when: "identified" },
    ],
  };
}

function only(session: Session, effect: Effect): Decoded<Session> {
  return { session, effects: [effect] };
}

function typeOf(frame: Uint8Array): number {
  return frame[3] ?? 0;
}

/**
 * 0x17 and 0x69: packed date, as many access points as the length says, operator, counted cells. The 4G models send
 * 0x1A, and 0x1B from memory, (0x18 and 0x19 of others) with area and cell numbers of four bytes.
 */
const accessPoints = bareRow("access points (Topin)", [0x17, 0x18, 0x19, 0x1a, 0x1b, 0x69], (frame, session) => {
  const reader = new Reader(frame, dataAt);
  const report = draft();
  const date = reader.take(6);
  const width = cellSizeOf(typeOf(frame)) === 5 ? 2 : 4;
  readAccessPoints(reader, report, frame[2] ?? 0);
  const count = reader.u8();
  const mcc = reader.u16();
  readCells(reader, report, mcc, reader.u8(), { count, lac: width, cell: width });
  return { session, effects: [readingsOf(report, packedDate(date)), stored(0, typeOf(frame), date)] };
});

/** 0x10, and from memory 0x11. */
const location = bareRow("location (Topin)", [0x10, 0x11], (frame, session) => {
  const reader = new Reader(frame, dataAt);
  const report = draft();
  const date = reader.take(6);
  const time = readDate(new Reader(date));
  report.readings.satellites = reader.u8() & 0x0f;
  const latitude = reader.u32();
  const longitude = reader.u32();
  const speed = reader.u8();
  const status = reader.u16();
  readAcc(report, status);
  const fix = fixOf(positionOf(time, latitude, longitude, speed, status), report);
  return { session, effects: [fix, stored(0, typeOf(frame), date)] };
});

/** 0x08 keeps the connection. */
const heartbeat = bareRow("heartbeat (Topin)", [0x08], (_frame, session) =>
  only(session, { type: "ignored", reason: "heartbeat" }),
);

/** Data of 0x13 in the manual's annex: flags and signal stand elsewhere than in its text. */
const annexStatus = 7;

/**
 * Battery %, software version, time zone, minutes between two of these, signal %; the annex has flags (bit 2 charging),
 * battery, signal, version, zone.
 */
function readStatus(data: Uint8Array, report: Draft): void {
  const { readings, attributes } = report;
  const annex = data.length === annexStatus;
  const [battery, signal] = annex ? [data[1], data[2]] : [data[0], data[4]];
  const [version, zone] = annex ? [data[3], data[4]] : [data[1], data[2]];
  if (annex) readings.charging = ((data[0] ?? 0) & 0x04) !== 0;
  if (battery !== undefined && battery <= 100) readings.battery = battery;
  if (signal !== undefined && signal <= 100) readings.signal = signal;
  if (version !== undefined) attributes.softwareVersion = version;
  if (zone !== undefined) attributes.timeZone = zone;
  if (!annex && data[3] !== undefined) attributes.statusInterval = data[3];
}

/**
 * 0x13, told from the sealed heartbeat by its size or, behind a login without serial number, by what would be its
 * checksum. The answer is the annex's, which sets no interval.
 */
const status: MessageRow<Session> = {
  ...bareRow("status (Topin)", [0x13], (frame, session) => {
    const report = draft();
    const short = serialOffset(frame) < 0 ? 1 : 0;
    readStatus(frame.subarray(dataAt, countedSize(frame) - short), report);
    return { session, effects: [readingsOf(report), stored(1, 0x13, nothing)] };
  }),
  when: (frame, session) =>
    serialOffset(frame) < 0 ||
    (session.bare === true &&
      bareSizes(frame, 0).length === 0 &&
      hasSize(frame, countedSize(frame)) &&
      open(frame) === undefined),
};

/** Bytes of a frame without stop bits whose length counts number and data. */
function countedSize(frame: Uint8Array): number {
  return 3 + (frame[2] ?? 0);
}

const nothing = new Uint8Array(0);

/** 0x30: year (two bytes), month, day, hour, minute, second; UTC, at whole seconds of its arrival. */
const time = bareRow("update time (Topin)", [0x30], (_frame, session, { receivedAt }: DecodeContext) => {
  const now = new Date(receivedAt);
  const date = new Writer(7)
    .u16(now.getUTCFullYear())
    .u8(now.getUTCMonth() + 1)
    .u8(now.getUTCDate())
    .u8(now.getUTCHours())
    .u8(now.getUTCMinutes())
    .u8(now.getUTCSeconds());
  return request(session, "time request", 7, 0x30, date.done());
});

/**
 * What 0x57 is answered with, as in the manual: a report each 60 s, GPS on, no alarm clock, no time without reports, no
 * telephone numbers.
 */
const settings = Uint8Array.fromHex(`006001${"00".repeat(9)}00${"00".repeat(9)}00000000003b3b3b`);

/** 0x57: the tracker asks for its settings. */
const settingsRequest = bareRow("synchronisation of settings (Topin)", [0x57], (_frame, session) =>
  request(session, "settings request", settings.length + 1, 0x57, settings),
);

/** 0x58: the tracker asks for the telephone numbers that may call it; there are none. */
const whiteList = bareRow("white list (Topin)", [0x58], (_frame, session) =>
  request(session, "white list request", 1, 0x58, nothing),
);

/** 0x98: an SMS has set the interval, seconds; the answer repeats it. */
const interval = bareRow("upload interval (Topin)", [0x98], (frame, session) => {
  const report = draft();
  report.attributes.uploadInterval = new Reader(frame, dataAt).u16();
  return { session, effects: [readingsOf(report), stored(3, 0x98, frame.slice(dataAt, dataAt + 2))] };
});

/** Messages that are an alarm by their number. */
const alarms: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [0x86, "overspeed"],
  [0x94, "vibration"],
  [0x99, "sos"],
]);

const alarm = bareRow("alarm (Topin)", [...alarms.keys()], (frame, session) => {
  const report = draft();
  raise(report, alarms.get(typeOf(frame)) ?? "general");
  return only(session, readingsOf(report));
});

/** 0x56: 0 the tracker fell or was taken off, 1 it is worn. */
const worn = bareRow("drop alarm (Topin)", [0x56], (frame, session) => {
  const report = draft();
  const isWorn = new Reader(frame, dataAt).u8() > 0;
  report.readings.worn = isWorn;
  if (!isWorn) raise(report, "removing");
  return only(session, readingsOf(report));
});

/** 0x81 charged, or with a length of 2 the battery is low; 0x82 charger connected, 0x83 disconnected. */
const charging = bareRow("charging (Topin)", [0x81, 0x82, 0x83], (frame, session) => {
  const report = draft();
  if (typeOf(frame) !== 0x81) report.readings.charging = typeOf(frame) === 0x82;
  else if (frame[2] === 2) raise(report, "lowBattery");
  else report.readings.battery = 100;
  return only(session, readingsOf(report));
});

/** Whom the tracker calls. */
const called: ReadonlyMap<number, string> = new Map([
  [0x41, "SOS"],
  [0x42, "father"],
  [0x43, "mother"],
]);

/** 0x41 to 0x43: the tracker dials one of its numbers. */
const call = bareRow("call (Topin)", [...called.keys()], (frame, session) => {
  const report = draft();
  report.attributes.calls = called.get(typeOf(frame)) ?? "";
  return only(session, readingsOf(report));
});

/** 0x80: why the tracker sends no position, by the manual's number. */
const noPosition = bareRow("reason for no position (Topin)", [0x80], (frame, session) => {
  const report = draft();
  report.attributes.noPositionReason = new Reader(frame, dataAt).u8();
  return only(session, readingsOf(report));
});

/** What the tracker says of itself and this service has no use for. */
const said: ReadonlyMap<number, string> = new Map([
  [0x14, "sleep"],
  [0x15, "factory reset"],
  [0x67, "password recovery"],
]);

const other = bareRow("sleep, factory reset, password recovery (Topin)", [...said.keys()], (frame, session) =>
  only(session, { type: "ignored", reason: said.get(typeOf(frame)) ?? "" }),
);

/**
 * Messages of ZhongXun Topin's trackers but for their login; the status comes before the heartbeat that has its number.
 */
export const topinRows: readonly MessageRow<Session>[] = [
  { ...status, keys: [...(status.keys ?? []), 0x13] },
  accessPoints,
  location,
  heartbeat,
  time,
  settingsRequest,
  whiteList,
  interval,
  alarm,
  worn,
  charging,
  call,
  noPosition,
  other,
];
