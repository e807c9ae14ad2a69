import type { Fix, ReadingsReport } from "../../model/effects.ts";
import type { NumberReading } from "../../model/readings.ts";
import { type AccessPoint, type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, readingsOf, within } from "../../wire/report.ts";
import { ddmmyy, digitsValue, type Field, hex, hhmmss, mismatch, parseDecimal } from "../../wire/text.ts";
import { readStatus } from "./status.ts";

/** How many commas a position's message has at the least: up to the signal strength. */
export const positionCommas = 11;

/** km/h and m beyond which a number is no speed and no altitude. */
const fastest = 50_000;
const highest = 100_000;

/**
 * Position data (Appendix I) from `fields[at]` on, in km/h, m and %. Without coordinates the rest is still reported.
 * Undefined: date, time or coordinates can't be read.
 */
export function readPosition(fields: readonly string[], at: number, alarm: boolean): Fix | ReadingsReport | undefined {
  const report = draft();
  const time = timeOf(report, fields[at] ?? "", fields[at + 1] ?? "");
  const nowhere = fields[at + 3] === "" && fields[at + 5] === "";
  const latitude = degrees(fields[at + 3], fields[at + 4], "N", "S");
  const longitude = degrees(fields[at + 5], fields[at + 6], "E", "W");
  if (time === undefined || (!nowhere && (latitude === undefined || longitude === undefined))) return undefined;
  const speed = within(report, fields[at + 7], 0, fastest, "speed");
  const course = within(report, fields[at + 8], 0, 360, "direction");
  const altitude = within(report, fields[at + 9], -highest, highest, "height");
  numeric(report, fields[at + 10], "satellites", "satelliteNumber");
  numeric(report, fields[at + 11], "signal", "gsmSignal");
  numeric(report, fields[at + 12], "battery", "powerStatus");
  numeric(report, fields[at + 13], "steps", "pedometer");
  numeric(report, fields[at + 14], "rolls", "tumblingTimes");
  readStatus(report, fields[at + 15] ?? "", alarm);
  if (fields.length > at + 16) readRadio(report, fields, at + 16);
  if (latitude === undefined || longitude === undefined) return readingsOf(report, time);
  return fixOf({ time, valid: fields[at + 2] === "A", latitude, longitude, speed, course, altitude }, report);
}

/** Epoch ms of `ddmmyy` and `hhmmss`, UTC; 0 where there is no such date; undefined where they are none. */
function timeOf(report: Draft, date: string, time: string): number | undefined {
  if (!/^\d{6}$/.test(date) || !/^\d{6}$/.test(time)) return undefined;
  const day = ddmmyy.read([date], 0);
  const clock = hhmmss.read([time], 0);
  if (day !== mismatch && clock !== mismatch) return day + clock;
  report.attributes.reportedDate = date;
  report.attributes.reportedTime = time;
  return 0;
}

/** Degrees with the sign that they have or that their side gives: some firmware sends both, some neither letter. */
function degrees(
  text: string | undefined,
  side: string | undefined,
  positive: string,
  negative: string,
): number | undefined {
  const value = parseDecimal(text ?? "");
  if (value === mismatch || (side !== positive && side !== negative && side !== "")) return undefined;
  return side === negative && value > 0 ? -value : value;
}

/** Puts a number that a text gives; what is none is kept under the manual's name. */
export function numeric(report: Draft, text: string | undefined, name: NumberReading, manualName: string): void {
  if (text === undefined || text === "") return;
  const whole = digitsValue(text, 0, text.length);
  const value = whole === mismatch ? parseDecimal(text) : whole;
  if (value === mismatch) report.attributes[manualName] = text;
  else put(report, name, value, manualName);
}

/** Cells, access points and accuracy. */
function readRadio(report: Draft, fields: readonly string[], at: number): void {
  const cells: Cell[] = [];
  const behind = readCells(fields, at, cells);
  const points: AccessPoint[] = [];
  // The name before an address may hold commas, so the addresses are looked for.
  let used = behind;
  for (let index = behind + 2; index < fields.length; index++) {
    const mac = fields[index] ?? "";
    if (!isMac(mac)) continue;
    points.push({ mac, signal: numberOf(fields[index + 1]) });
    used = index + 1;
  }
  // No radius is zero: that is sent where there is no fix.
  if (fields.length - 1 > used && Number(fields.at(-1)) > 0)
    numeric(report, fields.at(-1), "accuracy", "positioningAccuracy");
  const cellText = cellsText(cells);
  const pointText = wifiText(points);
  if (cellText !== undefined) report.attributes.cells = cellText;
  if (pointText !== undefined) report.attributes.wifi = pointText;
}

/**
 * The cells from their count on: delay, MCC, MNC, then area, number and strength of each. Answers the index of what
 * follows, the number of access points.
 */
function readCells(fields: readonly string[], at: number, cells: Cell[]): number {
  const count = numberOf(fields[at]) ?? 0;
  if (count === 0) return at + 1;
  const mcc = numberOf(fields[at + 2]);
  const mnc = numberOf(fields[at + 3]);
  let index = at + 4;
  for (let cell = 0; cell < count && index + 1 < fields.length; cell++) {
    const lac = numberOf(fields[index], hexField);
    const cellId = numberOf(fields[index + 1], hexField);
    if (lac === undefined || cellId === undefined) break;
    cells.push({ mcc, mnc, lac, cellId, signal: numberOf(fields[index + 2]) });
    index += 3;
  }
  return index;
}

const hexField = hex(1, 8);

/** A number, decimal or, where it has letters, in the form of `other`. */
function numberOf(text: string | undefined, other?: Field<number>): number | undefined {
  if (text === undefined || text === "") return undefined;
  const whole = digitsValue(text, 0, text.length);
  const value = whole === mismatch ? parseDecimal(text) : whole;
  if (value !== mismatch) return value;
  const hexadecimal = other?.read([text], 0);
  return hexadecimal === mismatch ? undefined : hexadecimal;
}

function isMac(text: string): boolean {
  return text.length === 17 && text[2] === ":" && /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(text);
}
