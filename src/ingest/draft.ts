import type { Step } from "../fold/totals.ts";
import { isVague } from "../geo/credible.ts";
import type { LocationAlerts } from "../model/alert.ts";
import type { Located } from "../model/content-hash.ts";
import type { Attributes, Fix, Report } from "../model/effects.ts";
import { type LocationRecord, type Totals, withTotals } from "../model/location.ts";
import { alertMembers, ExtrasAndHash } from "../model/location-json.ts";
import type { Readings } from "../model/readings.ts";
import type { Observation } from "../ports/alert-engine.ts";

/** A report made ready to be stored: normalised, with its content key, but without totals, which depend on the records before it. */
export interface Draft extends Step, Observation {
  readonly hash: number;
  readonly extras: string;
}

/** Whether a report holds anything to keep. A heartbeat without readings is no location. */
export function worthKeeping(report: Report): boolean {
  if (report.type === "fix" || report.alarms.length > 0) return true;
  for (const _ in report.readings) return true;
  for (const _ in report.attributes) return true;
  return false;
}

/** Whether a fix's position is one on earth. */
export function onEarth(fix: Fix): boolean {
  return Math.abs(fix.latitude) <= 90 && Math.abs(fix.longitude) <= 180;
}

/** One for all: it holds nothing between two reports. */
const written = new ExtrasAndHash();

const noReadings: Readings = Object.freeze({});
const noAttributes: Attributes = Object.freeze({});

/**
 * Normalises a report: 7 decimals of a degree (1 cm), 2 of speed and course, course in [0, 360).
 * `watched`: a rule may look at it; otherwise the draft does not keep readings and attributes, whose texts are in `extras`: thousands of drafts wait at a time.
 */
export function draftOf(report: Report, time: number, receivedAt: number, watched: boolean): Draft {
  const located = report.type === "fix" ? locatedOf(report) : undefined;
  written.make(report, located);
  return {
    time,
    receivedAt,
    hash: written.hash,
    located: located !== undefined,
    positioned: located?.valid === true,
    vague: isVague(report.readings.accuracy),
    latitude: located?.latitude ?? 0,
    longitude: located?.longitude ?? 0,
    altitude: report.type === "fix" ? report.altitude : undefined,
    speed: located?.speed,
    course: located?.course,
    alarms: report.alarms,
    readings: watched ? report.readings : noReadings,
    attributes: watched ? report.attributes : noAttributes,
    extras: written.extras,
    ignitionOff: report.readings.ignition === false,
    inputsReported: inputBits(report.readings, false),
    inputsActive: inputBits(report.readings, true),
  };
}

function locatedOf({ valid, latitude, longitude, speed, course }: Fix): Located {
  return {
    valid,
    // Adding zero makes a minus zero plain, so that the same place is the same record.
    latitude: Math.round(latitude * 1e7) / 1e7 + 0,
    longitude: Math.round(longitude * 1e7) / 1e7 + 0,
    speed: speed === undefined || !(speed >= 0) ? undefined : Math.round(speed * 100) / 100,
    course: course === undefined ? undefined : normalCourse(course),
  };
}

function normalCourse(course: number): number | undefined {
  if (!Number.isFinite(course)) return undefined;
  const rounded = Math.round((((course % 360) + 360) % 360) * 100) / 100;
  return rounded === 360 ? 0 : rounded;
}

/**
 * Bits of inputs 1 to 4: those that are reported, or those that are active. Inputs below the highest reported one count as reported and off,
 * as the API's `inputs` array shows them.
 */
function inputBits(readings: Readings, active: boolean): number {
  const { input1, input2, input3, input4 } = readings;
  if (active) return (input1 ? 1 : 0) | (input2 ? 2 : 0) | (input3 ? 4 : 0) | (input4 ? 8 : 0);
  const beyond = readings.input5 ?? readings.input6 ?? readings.input7 ?? readings.input8;
  if (input4 !== undefined || beyond !== undefined) return 15;
  if (input3 !== undefined) return 7;
  if (input2 !== undefined) return 3;
  return input1 === undefined ? 0 : 1;
}

/** The record of a draft and of what rules found in it. `arrival`: see `RecordPlace`. */
export function recordOf(
  draft: Draft,
  arrival: number,
  totals: Totals,
  found: LocationAlerts | undefined = undefined,
): LocationRecord {
  const { time, hash, receivedAt, speed, course, extras } = draft;
  const alerts = found !== undefined || draft.alarms.length > 0 ? alertMembers(draft.alarms, found) : undefined;
  // The usual one, without the copies that leaving out makes.
  if (draft.located && speed !== undefined && course !== undefined && alerts === undefined) {
    const { latitude, longitude } = draft;
    const valid = draft.positioned;
    return { time, arrival, hash, receivedAt, valid, latitude, longitude, speed, course, extras, totals };
  }
  const record = {
    time,
    arrival,
    hash,
    receivedAt,
    valid: draft.positioned,
    latitude: draft.latitude,
    longitude: draft.longitude,
    ...(speed !== undefined && { speed }),
    ...(course !== undefined && { course }),
    extras,
    ...(alerts !== undefined && { alerts }),
    totals,
  };
  return draft.located ? record : withTotals({ ...record, unlocated: true }, totals);
}
