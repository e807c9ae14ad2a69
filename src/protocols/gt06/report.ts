import type { Alarm } from "../../model/alarms.ts";
import type { Effect, Fix, ReadingsReport } from "../../model/effects.ts";
import type { Readings } from "../../model/readings.ts";

/** Readings while they are gathered. */
export type ReadingsDraft = { -readonly [K in keyof Readings]: Readings[K] };

/** Everything that a message reports beside its position, while it is gathered. */
export interface Draft {
  readonly alarms: Alarm[];
  readonly readings: ReadingsDraft;
  readonly attributes: { [name: string]: string | number | boolean };
}

/** A position as `readGps` gives it. */
export interface Position {
  /** Epoch ms by the tracker's clock; absent where the date is none. */
  readonly time: number | undefined;
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
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
 * A fix of a position and what came with it. If it has no date, or one that does not exist (a clock that was never set, or firmware that swaps day and month), it has no
 * place in a history. It then becomes readings of the present, and an attribute keeps the position, because the message is acknowledged.
 */
export function fixOf(position: Position, report: Draft, altitude?: number): Fix | ReadingsReport {
  if (position.time === undefined) {
    if (position.valid) report.attributes.undatedPosition = textOf(position);
    return readingsOf(report);
  }
  const fix: { -readonly [K in keyof Fix]: Fix[K] } = {
    type: "fix",
    time: position.time,
    valid: position.valid,
    latitude: position.latitude,
    longitude: position.longitude,
    alarms: report.alarms,
    readings: report.readings,
    attributes: report.attributes,
  };
  if (position.speed !== undefined) fix.speed = position.speed;
  if (position.course !== undefined) fix.course = position.course;
  if (altitude !== undefined) fix.altitude = altitude;
  return fix;
}

/** Latitude and longitude, in degrees of 7 decimals (1 cm). */
function textOf({ latitude, longitude }: Position): string {
  return [latitude, longitude].map((degrees) => String(Number(degrees.toFixed(7)))).join(",");
}

/** Readings without a position of their own. */
export function readingsOf(report: Draft, time?: number): ReadingsReport {
  return {
    type: "readings",
    ...(time !== undefined && { time }),
    alarms: report.alarms,
    readings: report.readings,
    attributes: report.attributes,
  };
}

/** Readings, or `ignored` where there are none to store. */
export function readingsOrNothing(report: Draft, reason: string, time?: number): Effect {
  const empty =
    report.alarms.length === 0 &&
    Object.keys(report.readings).length === 0 &&
    Object.keys(report.attributes).length === 0;
  return empty ? { type: "ignored", reason } : readingsOf(report, time);
}
