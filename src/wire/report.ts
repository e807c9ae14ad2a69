import type { Alarm } from "../model/alarms.ts";
import type { Effect, Fix, ReadingsReport } from "../model/effects.ts";
import { isInRange, type NumberReading, type ReadingsDraft } from "../model/readings.ts";
import { numberOf } from "./text.ts";
import { digitTime } from "./time.ts";

/** Everything that a message reports beside its position, while it is gathered. */
export interface Draft {
  readonly alarms: Alarm[];
  readonly readings: ReadingsDraft;
  readonly attributes: { [name: string]: string | number | boolean };
}

/** A position as a message gives it: degrees, m, km/h. What the tracker did not say is undefined or absent. */
export interface Position {
  /** Epoch ms by the tracker's clock; undefined where the date is none. */
  readonly time: number | undefined;
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude?: number | undefined;
  readonly speed?: number | undefined;
  /** Degrees; one over 360 is none. */
  readonly course?: number | undefined;
}

/** An empty report, to be filled by a message's readers. */
export function draft(): Draft {
  return { alarms: [], readings: {}, attributes: {} };
}

/** Adds an alarm once. */
export function raise(report: Draft, alarm: Alarm): void {
  if (!report.alarms.includes(alarm)) report.alarms.push(alarm);
}

/**
 * Puts a number where the catalogue says. One that the reading can't have (a code for "not measured", a damaged
 * message), and one that another part of the message has given already, becomes an attribute under the name that the
 * manual has for it, which must be no reading's. Undefined, NaN, and what a double does not hold exactly are left out.
 */
export function put(report: Draft, name: NumberReading, value: number | undefined, manualName: string): void {
  if (value === undefined || Number.isNaN(value)) return;
  if (report.readings[name] === undefined && isInRange(name, value)) report.readings[name] = value + 0;
  else if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) report.attributes[manualName] = value + 0;
}

/**
 * A number of the position itself, from `least` to `most`; anything else that a field has is kept under the manual's
 * name, which must be no reading's.
 */
export function within(
  report: Draft,
  text: string | undefined,
  least: number,
  most: number,
  manualName: string,
): number | undefined {
  const value = numberOf(text);
  if (value !== undefined && value >= least && value <= most) return value;
  if (text) report.attributes[manualName] = value ?? text;
  return undefined;
}

/**
 * Epoch ms of `yymmddhhmmss`, UTC. A date that no calendar has is 0, and the report says what was sent. Undefined: no
 * twelve digits.
 */
export function reportedTime(report: Draft, text: string): number | undefined {
  if (!/^\d{12}$/.test(text)) return undefined;
  const time = digitTime(text);
  if (time !== undefined) return time;
  report.attributes.reportedDate = text.slice(0, 6);
  report.attributes.reportedTime = text.slice(6);
  return 0;
}

/**
 * A fix of a position and what came with it. If it has no date, or one that does not exist (a clock that was never
 * set), it has no place in a history. It then becomes readings of the present, and the attribute `undatedPosition`
 * keeps the position, because the message is acknowledged.
 */
export function fixOf(position: Position, report: Draft): Fix | ReadingsReport {
  const { time, valid, latitude, longitude, altitude, speed, course } = position;
  const { alarms, readings, attributes } = report;
  if (time === undefined) {
    if (valid) attributes.undatedPosition = `${Number(latitude.toFixed(7))},${Number(longitude.toFixed(7))}`;
    return readingsOf(report);
  }
  const fix: { -readonly [K in keyof Fix]: Fix[K] } = {
    type: "fix",
    time,
    valid,
    latitude,
    longitude,
    alarms,
    readings,
    attributes,
  };
  if (altitude !== undefined) fix.altitude = altitude;
  if (speed !== undefined) fix.speed = speed;
  if (course !== undefined && course >= 0 && course <= 360) fix.course = course;
  return fix;
}

/** Readings without a position of their own. */
export function readingsOf({ alarms, readings, attributes }: Draft, time?: number): ReadingsReport {
  return time === undefined
    ? { type: "readings", alarms, readings, attributes }
    : { type: "readings", time, alarms, readings, attributes };
}

/** Readings, or `ignored` where there are none to store. */
export function readingsOrNothing(report: Draft, reason: string, time?: number): Effect {
  return isEmpty(report) ? { type: "ignored", reason } : readingsOf(report, time);
}

function isEmpty({ alarms, readings, attributes }: Draft): boolean {
  if (alarms.length > 0) return false;
  for (const _ in readings) return false;
  for (const _ in attributes) return false;
  return true;
}
