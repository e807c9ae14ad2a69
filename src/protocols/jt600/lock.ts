import type { Alarm } from "../../model/alarms.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise } from "../../wire/report.ts";
import { headLength } from "./framer.ts";
import { putNetwork, readPlace } from "./place.ts";
import { decoded, type Handler, imeiOf, malformed, reply } from "./session.ts";

/** Types of data that come from the memory: of a blind area, and those before the newest. */
const archived: ReadonlySet<number> = new Set([3, 4]);
/** What firmware fills fields with that it does not have. */
const filler = 0x0f;
/** From this version on a lock wants its serial number back. */
const numbered = 0x19;

/** Bits of a lock's status that are alarms, and the manual's name where the alarm alone does not tell it. */
const alarmBits: readonly (readonly [index: number, alarm: Alarm, name?: string])[] = [
  [1, "geofenceEnter"],
  [2, "geofenceExit"],
  [3, "tampering", "ropeCut"],
  [4, "vibration"],
  [8, "unlock", "longUnlocked"],
  [9, "tampering", "wrongPassword"],
  [10, "tampering", "illegalCard"],
  [11, "lowBattery"],
  [12, "tampering", "backCoverOpened"],
  [14, "fault", "motorStuck"],
];

/** Whether the lock wants an answer: bit 5 of its status, set for alarms and for what comes from the memory. */
function wantsAnswer(status: number): boolean {
  return bit(status, 5);
}

function readStatus(status: number, report: Draft): void {
  const { readings, attributes } = report;
  if (bit(status, 0)) attributes.lbs = true;
  attributes.ropeInserted = bit(status, 6);
  readings.locked = bit(status, 7);
  attributes.backCoverClosed = bit(status, 13);
  for (const [index, alarm, name] of alarmBits) {
    if (!bit(status, index)) continue;
    raise(report, alarm);
    if (name !== undefined) attributes[name] = true;
  }
}

/** 0xFF: being charged. */
function readBattery(level: number, report: Draft): void {
  if (level === 0xff) report.readings.charging = true;
  else put(report, "battery", level, "batteryLevel");
}

/**
 * What newer firmware has behind the signal: fence, wake-up source, high byte of the network's code, charging, IMEI,
 * high half of the cell's number, country, network.
 */
interface Further {
  readonly imei?: string | undefined;
  readonly cellHigh: number;
  readonly mcc?: number;
  readonly mnc?: number;
}

/**
 * Reads them from a reader that ends before the serial number. The first firmware has none, the next only the first
 * four bytes.
 */
function readFurther(reader: Reader, report: Draft): Further {
  if (reader.remaining < 4) return { cellHigh: 0 };
  const { readings, attributes } = report;
  const fence = reader.u8();
  if (fence !== 0 && fence !== filler) attributes.geofenceId = fence;
  const wake = reader.u8();
  if (wake !== filler) attributes.wakeSource = wake & 0x0f;
  const mncHigh = reader.u8();
  const power = reader.u8();
  if (power !== filler) readings.charging ??= bit(power, 0);
  if (reader.remaining < 13) return { cellHigh: 0 };
  const imei = imeiOf(reader.hex(8));
  const cellHigh = reader.u16();
  const mcc = reader.u16();
  const mnc = reader.u8() + (mncHigh === filler ? 0 : mncHigh * 256);
  return { imei, cellHigh, mcc, mnc };
}

/**
 * `$`, identifier, version, type, length, position, mileage, satellites, bound vehicle, status, battery, cell, area,
 * signal, further fields, serial number.
 */
export const lockPosition: Handler = (frame, session) => {
  const head = new Reader(frame, 1);
  const id = head.hex(5);
  const version = head.u8();
  const type = head.u8() & 0x0f;
  if (!/^\d{10}$/.test(id) || head.u16() !== frame.length - headLength) return { session, effects: [malformed] };
  const reader = new Reader(frame, headLength, frame.length - 1);
  const report = draft();
  const position = readPlace(reader, report);
  if (position === undefined) return { session, effects: [malformed] };
  if (archived.has(type)) report.attributes.archive = true;
  put(report, "odometer", reader.u32(), "mileage");
  put(report, "satellites", reader.u8(), "gpsSatellites");
  const vehicle = reader.u32();
  if (vehicle !== 0) report.attributes.vehicleId = vehicle;
  const status = reader.u16();
  readStatus(status, report);
  readBattery(reader.u8(), report);
  const cell = reader.u16();
  const lac = reader.u16();
  const signal = reader.u8();
  const { imei, cellHigh, mcc, mnc } = readFurther(reader, report);
  putNetwork({ mcc, mnc, lac, cellId: cellHigh * 65_536 + cell, signal }, report);
  const effects = [fixOf(position, report)];
  if (!wantsAnswer(status)) return decoded(session, id, effects, imei);
  const serial = frame[frame.length - 1] ?? 0;
  return decoded(session, id, [...effects, reply(version < numbered ? "P35" : `P69,0,${serial}`, "stored")], imei);
};
