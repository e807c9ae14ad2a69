import type { Alarm } from "../../model/alarms.ts";
import { type Draft, put, raise, within } from "../../wire/report.ts";
import { numberOf, percentOf } from "../../wire/text.ts";

/** Keywords that are alarms (GPRS Protocol, 4.3 and 5.2). */
const alarms: ReadonlyMap<string, Alarm> = new Map([
  ["help me", "sos"],
  ["low battery", "lowBattery"],
  ["stockade", "geofence"],
  ["move", "movement"],
  ["speed", "overspeed"],
  ["door alarm", "doorOpened"],
  ["ac alarm", "powerCut"],
  ["acc alarm", "ignitionOn"],
  ["accident alarm", "accident"],
  ["collision", "accident"],
  ["sensor alarm", "vibration"],
  ["bonnet alarm", "bonnet"],
  ["footbrake alarm", "footBrake"],
  ["brake", "hardBraking"],
  ["brake alarm", "hardBraking"],
  ["accelerate", "hardAcceleration"],
  ["sharp turn", "hardCornering"],
  ["acc on", "ignitionOn"],
  ["acc off", "ignitionOff"],
]);

/** Alarms that a simulated device can name, each with its first keyword. */
export const keywordOf: ReadonlyMap<Alarm, string> = new Map(
  [...alarms].toReversed().map(([keyword, alarm]) => [alarm, keyword]),
);

/** Keywords that are numbers or capitals and no answers to commands. */
const reports: ReadonlySet<string> = new Set(["001", "101", "103", "OBD", "DTC"]);

/**
 * The command that a keyword answers: `jt` answers `J`, `109` answers `109`; undefined: it answers none. (GPRS
 * Protocol, 5.3)
 */
export function commandOf(keyword: string): string | undefined {
  if (keyword.length === 2 && /^[a-z]t$/.test(keyword)) return keyword.charAt(0).toUpperCase();
  return /^[A-Z0-9]{2,6}$/.test(keyword) && !reports.has(keyword) ? keyword : undefined;
}

/**
 * Puts what the keyword itself says: an alarm, the ignition, and the values that some carry (`T:+28.0`, `oil 51.6`,
 * `DTC P0001`).
 */
export function readKeyword(keyword: string, report: Draft): void {
  if (keyword === "") return;
  report.attributes.event = keyword;
  const alarm = alarms.get(keyword);
  if (alarm !== undefined) raise(report, alarm);
  if (keyword === "acc on") report.readings.ignition = true;
  else if (keyword === "acc off") report.readings.ignition = false;
  else if (keyword.startsWith("T:")) {
    raise(report, "temperature");
    put(report, "temperature", numberOf(keyword.slice(2)), "alarmTemperature");
  } else if (keyword.startsWith("oil")) {
    raise(report, "fuelLeak");
    if (keyword.startsWith("oil ")) put(report, "fuel", percentOf(keyword.slice(4)), "alarmOil");
  } else if (keyword.startsWith("DTC")) {
    raise(report, "fault");
    if (keyword.length > 4) report.readings.dtcs = keyword.slice(4).trim();
  }
}

/** Speed, course and altitude of the three fields from `at` on, in the message's own units. */
export function readMotion(
  fields: readonly string[],
  at: number,
  report: Draft,
): { readonly speed: number | undefined; readonly course: number | undefined; readonly altitude: number | undefined } {
  return {
    speed: within(report, fields[at], 0, 10_000, "speed"),
    course: within(report, fields[at + 1], 0, 360, "course"),
    altitude: within(report, fields[at + 2], -10_000, 100_000, "reportedAltitude"),
  };
}
