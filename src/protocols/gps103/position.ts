import { type Draft, put } from "../../wire/report.ts";
import { degreesMinutes, digitsValue, hhmmss, mismatch, numberOf, percentOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { kmhOfKnots } from "../../wire/units.ts";
import { readMotion } from "./keywords.ts";

/** What the fields of a place say. */
export interface Place {
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly altitude: number | undefined;
}

const day = 86_400_000;

/**
 * `yymmddhhmm`, with seconds or without, and of some firmware `yy/mm/dd hh:mm`: the digits alone; undefined: too few.
 */
export function clockDigits(field: string | undefined): string | undefined {
  const digits = field === undefined ? "" : field.includes("/") ? field.replaceAll(/[/: ]/g, "") : field;
  if (digits.length !== 10 && digits.length !== 12) return undefined;
  return digitsValue(digits, 0, digits.length) === mismatch ? undefined : digits;
}

/** Epoch ms of the tracker's clock, read as if it were UTC; undefined: no such date. */
export function clockTime(digits: string): number | undefined {
  return digitTime(digits.padEnd(12, "0"));
}

/**
 * The time of a position by its local date and time and its time of day in UTC, and what the tracker's clock is ahead,
 * ms. A firmware without a time of day in UTC gives the local time alone, which then counts as UTC.
 */
export function positionTime(local: number, timeOfDay: string): { readonly time: number; readonly offset?: number } {
  const ofDay = hhmmss.read([timeOfDay], 0);
  if (ofDay === mismatch) return { time: local };
  const localMinute = Math.floor(local / 60_000) * 60_000;
  const utcMinute = Math.floor(ofDay / 60_000) * 60_000;
  const ahead = (localMinute % day) - utcMinute;
  const offset = ahead <= -day / 2 ? ahead + day : ahead > day / 2 ? ahead - day : ahead;
  return { time: localMinute - offset + (ofDay - utcMinute), offset };
}

/**
 * Reads the fields behind the validity: coordinates with their hemispheres before or behind them, then speed and all
 * else. Undefined: no coordinates.
 */
export function readPlace(fields: readonly string[], validAt: number, report: Draft): Place | undefined {
  let at = validAt + 1;
  const hemisphere = (letters: string, emptyToo: boolean): string => {
    const text = fields[at];
    if (text === undefined || (text === "" ? !emptyToo : text.length !== 1 || !letters.includes(text))) return "";
    at++;
    return text;
  };
  const before = hemisphere("NS", false);
  const latitude = degreesMinutes(fields[at++] ?? "");
  const north = hemisphere("NS", false) || before;
  const eastBefore = hemisphere("EW", false);
  const longitude = degreesMinutes(fields[at++] ?? "");
  const east = hemisphere("EW", true) || eastBefore;
  if (latitude === mismatch || longitude === mismatch) return undefined;
  const { speed, course, altitude } = readMotion(fields, at, report);
  readSensors(fields, at + 3, report);
  return {
    valid: fields[validAt] === "A",
    latitude: north === "S" && latitude !== 0 ? -latitude : latitude,
    longitude: east === "W" && longitude !== 0 ? -longitude : longitude,
    speed: speed === undefined ? undefined : kmhOfKnots(speed),
    course,
    altitude,
  };
}

/**
 * ACC, door, oil 1, oil 2, temperature (protocol 12 and 18). An oil alarm has the levels one place further to the
 * front.
 */
function readSensors(fields: readonly string[], at: number, report: Draft): void {
  const { readings, attributes } = report;
  const acc = fields[at];
  if (acc === "0" || acc === "1") readings.ignition = acc === "1";
  else if (acc) attributes.acc = acc;
  const door = fields[at + 1];
  if (door === "0" || door === "1") readings.doorOpen = door === "1";
  const oilAt = door?.includes(".") ? at + 1 : at + 2;
  putOil("fuel", fields[oilAt], report);
  putOil("fuel2", fields[oilAt + 1], report);
  const temperature = numberOf(fields[oilAt + 2]);
  if (temperature !== undefined && readings.temperature === undefined)
    put(report, "temperature", temperature, "temperatureSensor");
}

function putOil(name: "fuel" | "fuel2", text: string | undefined, report: Draft): void {
  if (!text) return;
  const manualName = name === "fuel" ? "oil1" : "oil2";
  // A whole number without a percent sign is the sensor's own.
  if (text.includes(".") && report.readings[name] === undefined) put(report, name, percentOf(text), manualName);
  else report.attributes[manualName] = percentOf(text) ?? text;
}
