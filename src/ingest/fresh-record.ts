import { isVague } from "../geo/credible.ts";
import type { Located } from "../model/content-hash.ts";
import type { Attributes, Fix, Report } from "../model/effects.ts";
import { ExtrasAndHash } from "../model/location-json.ts";
import type { Readings } from "../model/readings.ts";
import type { FreshRecord } from "../ports/follow.ts";

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
 * A report made ready to be stored: 7 decimals of a degree (1 cm), 2 of speed and course, course in [0, 360).
 * `watched`: a rule may look at it; otherwise the record does not keep readings and attributes, whose texts are in
 * `extras`: thousands of records wait at a time.
 */
export function freshRecordOf(report: Report, time: number, receivedAt: number, watched: boolean): FreshRecord {
  const located = report.type === "fix" ? locatedOf(report) : undefined;
  written.make(report, located);
  return {
    time,
    receivedAt,
    key: written.hash,
    valid: located?.valid === true,
    ...(located === undefined && unlocated),
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

const unlocated = Object.freeze({ unlocated: true as const });

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
 * Bits of inputs 1 to 4: those that are reported, or those that are active. Inputs below the highest reported one count
 * as reported and off, as the API's `inputs` array shows them.
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
