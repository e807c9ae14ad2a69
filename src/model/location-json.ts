import type { Report } from "./effects.ts";
import type { LocationRecord } from "./location.ts";
import type { ReadingName } from "./readings.ts";

/** Readings that the API's Location has a field of its own for; the others are attributes, as text. */
const fieldReadings: ReadonlySet<string> = new Set<ReadingName>([
  "battery",
  "fuel",
  "fuel2",
  "temperature",
  "temperature2",
  "rpm",
]);
/** Fields that the API declares as integers. */
const integerFields: ReadonlySet<string> = new Set<ReadingName>(["battery", "fuel", "fuel2", "rpm"]);

const inputNames = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputNames = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;
const arrayReadings: ReadonlySet<string> = new Set<ReadingName>([...inputNames, ...outputNames]);

/**
 * The part of a Location that is the same for ever: what was reported beside time, position, speed and course, as JSON members that
 * follow others (a leading comma), `attributes` last and left open so that a renderer can add to it.
 * Example: `,"battery":85,"inputs":[true],"attributes":{"satellites":"9"`.
 */
export function extrasOf(report: Report): string {
  let fields = "";
  let attributes = "";
  for (const name in report.readings) {
    if (arrayReadings.has(name)) continue;
    const value = report.readings[name as ReadingName];
    if (value === undefined) continue;
    if (fieldReadings.has(name)) fields += `,"${name}":${integerFields.has(name) ? Math.round(Number(value)) : value}`;
    else attributes += typeof value === "string" ? `,"${name}":${JSON.stringify(value)}` : `,"${name}":"${value}"`;
  }
  fields += flags("inputs", inputNames, report) + flags("outputs", outputNames, report);
  for (const name in report.attributes) {
    const value = report.attributes[name];
    attributes += `,${JSON.stringify(name)}:${typeof value === "string" ? JSON.stringify(value) : `"${value}"`}`;
  }
  if (report.type === "fix") {
    if (report.altitude !== undefined) attributes += `,"altitude":"${report.altitude}"`;
    if (!report.valid) attributes += ',"valid":"false"';
  }
  if (report.alarms.length > 0) attributes += `,"alarms":"${report.alarms.join(",")}"`;
  return `${fields},"attributes":{${attributes.slice(1)}`;
}

/** A JSON array of the states up to the highest one that was reported; those between that were not are false. */
function flags(field: string, names: typeof inputNames | typeof outputNames, report: Report): string {
  let highest = -1;
  for (let index = names.length - 1; index >= 0 && highest < 0; index--) {
    const name = names[index];
    if (name !== undefined && report.readings[name] !== undefined) highest = index;
  }
  if (highest < 0) return "";
  const states = names.slice(0, highest + 1).map((name) => report.readings[name] === true);
  return `,"${field}":[${states.join(",")}]`;
}

/** How late a record must arrive for its arrival to be shown, ms. */
export const lateAfterMs = 60_000;

/** The JSON of a Location up to its extras: what the record's own columns hold, and what is derived. */
export function locationHead(record: LocationRecord, odometerStart: number): string {
  const { totals } = record;
  let json = `{"dateTime":"${new Date(record.time).toISOString()}","latitude":${record.latitude},"longitude":${record.longitude}`;
  if (record.speed !== undefined) json += `,"speed":${record.speed}`;
  if (record.course !== undefined) json += `,"course":${record.course}`;
  json += `,"milleage":${Math.round((odometerStart + totals.odometer) * 1000) / 1000}`;
  json += `,"inactiveSeconds":${Math.max(0, Math.round((record.time - totals.movedAt) / 1000))}`;
  for (let input = 0; input < 4; input++)
    if ((totals.inputsKnown >> input) & 1)
      json += `,"sensorTime${input + 1}":${Math.round(totals.sensorSeconds[input] ?? 0)}`;
  return `${json},"alerts":[],"alertTexts":[],"warnings":[],"warningTexts":[],"hasCriticalAlert":false`;
}

/** The JSON of a Location after its extras: attributes that depend on how the record came, and the closing braces. `empty`: no attribute yet. */
export function locationTail(record: LocationRecord, empty: boolean): string {
  let members = "";
  if (record.positionTime !== undefined) members += `,"positionTime":"${new Date(record.positionTime).toISOString()}"`;
  if (record.receivedAt - record.time > lateAfterMs)
    members += `,"receivedAt":"${new Date(record.receivedAt).toISOString()}"`;
  return `${empty ? members.slice(1) : members}}}`;
}

/** A record as the API's Location (specification 2.5), JSON text. */
export function locationJson(record: LocationRecord, odometerStart: number): string {
  return locationHead(record, odometerStart) + record.extras + locationTail(record, record.extras.endsWith("{"));
}
