import { bcd, Reader } from "../../wire/reader.ts";
import type { Draft, Position } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { contentOffset, contentSize } from "./envelope.ts";
import { clockOffset, type Session } from "./session.ts";

/** Coordinates come in 1/30000 of a minute (GT06 v1.8.1, 5.2.1.6). */
const perDegree = 1_800_000;

/** Bytes that `readGps` reads. */
export const gpsSize = 18;

/** Six bytes: year, month, day, hour, minute, second. Undefined where that is no date. */
export function readDate(reader: Reader): number | undefined {
  return utc(reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8());
}

/** Six bytes of packed decimal digits: year to second. */
export function packedDate(bytes: Uint8Array): number | undefined {
  const [year, month, day, hour, minute, second] = Array.from(bytes, (byte) => bcd(Uint8Array.of(byte)) ?? -1);
  return year === undefined || month === undefined || day === undefined || year < 0
    ? undefined
    : utc(year, month, day, hour, minute, second);
}

/**
 * A position from its parts, as sent, be it on earth or not. Course and status: bits 0 to 9 course, 10 north, 11 west,
 * 12 positioned (5.2.1.9).
 */
export function positionOf(
  time: number | undefined,
  latitude: number,
  longitude: number,
  speed: number | undefined,
  status: number,
): Position {
  const course = status & 0x03ff;
  return {
    time,
    valid: (status & 0x1000) !== 0,
    // Adding zero makes a minus zero plain.
    latitude: (status & 0x0400 ? latitude : -latitude) / perDegree + 0,
    longitude: (status & 0x0800 ? -longitude : longitude) / perDegree + 0,
    speed,
    course: course <= 360 ? course : undefined,
  };
}

/** ACC in bits 14 (known) and 15 (on) of course and status, which later versions define. */
export function readAcc(report: Draft, status: number): void {
  if (status & 0x4000) report.readings.ignition = (status & 0x8000) !== 0;
}

/** Satellites, latitude, longitude, speed, course and status: what follows the date. */
export function readPlace(reader: Reader, report: Draft, time: number | undefined): Position {
  report.readings.satellites = reader.u8() & 0x0f;
  const latitude = reader.u32();
  const longitude = reader.u32();
  const speed = reader.u8();
  const status = reader.u16();
  readAcc(report, status);
  return positionOf(time, latitude, longitude, speed, status);
}

/**
 * Length of the GPS information, in the upper half of the byte that has the satellites in its lower (GT06 v1.8.1,
 * 5.2.1.5).
 */
const gpsLength = 0xc;

/** Whether a frame's content can't be but a date and a place: neither text nor another manual's fields look so. */
export function startsWithPlace(frame: Uint8Array): boolean {
  if (contentSize(frame) < gpsSize) return false;
  const reader = new Reader(frame, contentOffset(frame));
  if (readDate(reader) === undefined || reader.u8() >> 4 !== gpsLength) return false;
  const onEarth = reader.u32() <= 90 * perDegree && reader.u32() <= 180 * perDegree;
  reader.skip(1);
  return onEarth && (reader.u16() & 0x03ff) <= 360;
}

/** The GPS part of a message whose date is UTC. */
export function readGps(reader: Reader, report: Draft): Position {
  return readPlace(reader, report, readDate(reader));
}

/** The GPS part of a message whose date may be in the zone of the login. */
export function readOlderGps(reader: Reader, report: Draft, session: Session, type: number): Position {
  const date = readDate(reader);
  return readPlace(reader, report, date === undefined ? undefined : date - clockOffset(session, type));
}
