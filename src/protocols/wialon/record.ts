import type { Alarm } from "../../model/alarms.ts";
import { reservedAttributes } from "../../model/attribute-names.ts";
import type { Report } from "../../model/effects.ts";
import type { NumberReading, ReadingName, Readings } from "../../model/readings.ts";
import { type Cell, cellsText } from "../../wire/radio.ts";
import { put } from "../../wire/report.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { utc } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";

/** Fields of a record, without its checksum: of the short form, and of the whole. */
export const recordFields = { short: 10, full: 16 } as const;

/**
 * A record of D, SD and B, split at its semicolons, as a report; `archive`: of the tracker's memory. Undefined: its
 * time or coordinates can't be read. (1.1 and 2.0, "Data packet")
 */
export function reportOf(fields: readonly string[], receivedAt: number, archive = false): Report | undefined {
  const parts: Parts = { alarms: [], readings: {}, attributes: archive ? { archive } : {} };
  const time = timeOf(fields[0] ?? "", fields[1] ?? "", parts);
  const latitude = coordinateOf(fields[2], fields[3], "S");
  const longitude = coordinateOf(fields[4], fields[5], "W");
  if (time === mismatch || latitude === mismatch || longitude === mismatch) return undefined;
  readNumber(parts, "satellites", fields[9]);
  readNumber(parts, "hdop", fields[10]);
  readBits(parts, inputs, "inputs", fields[11]);
  readBits(parts, outputs, "outputs", fields[12]);
  readAnalogs(parts, fields[13]);
  if (isGiven(fields[14])) parts.readings.driverId = fields[14];
  readParameters(parts, fields[15] ?? "");
  if (latitude === undefined || longitude === undefined)
    return { type: "readings", ...(time !== undefined && { time }), ...parts };
  return {
    type: "fix",
    time: time ?? receivedAt,
    valid: parts.readings.satellites === undefined || parts.readings.satellites >= 3,
    latitude,
    longitude,
    ...optional("altitude", fields[8]),
    ...optional("speed", fields[6]),
    ...optional("course", fields[7]),
    ...parts,
  };
}

interface Parts {
  readonly alarms: Alarm[];
  readonly readings: { -readonly [K in keyof Readings]: Readings[K] };
  readonly attributes: Record<string, string | number | boolean>;
}

const inputs = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;
const analogs = ["analog1", "analog2", "analog3", "analog4"] as const;

/** Whether a field says something: one that is not available is `NA`, and some trackers leave it empty. */
function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== "" && text !== "NA";
}

/**
 * `ddmmyy;hhmmss[.fraction]`, UTC; 0, and what was sent is kept, where no calendar has such a date. Undefined: not
 * available.
 */
function timeOf(date: string, clock: string, { attributes }: Parts): number | undefined | typeof mismatch {
  if (!isGiven(date) || !isGiven(clock)) return undefined;
  if (!/^\d{6}$/.test(date) || !/^\d{6}(\.\d{1,9})?$/.test(clock)) return mismatch;
  const at = (text: string, from: number) => Number(text.slice(from, from + 2));
  const day = utc(at(date, 4), at(date, 2), at(date, 0), at(clock, 0), at(clock, 2), at(clock, 4));
  if (day !== undefined) return day + Math.round(Number(`0${clock.slice(6)}`) * 1000);
  attributes.reportedDate = date;
  attributes.reportedTime = clock;
  return 0;
}

/**
 * Degrees and minutes `dddmm.mmmm` with their hemisphere. Minutes of 60 and more count as they are: other firmware
 * writes them. Undefined: not available.
 */
function coordinateOf(text: string | undefined, side: string | undefined, negative: string) {
  if (!isGiven(text)) return undefined;
  const value = parseDecimal(text);
  if (value === mismatch) return mismatch;
  const whole = Math.trunc(value / 100);
  const degrees = roundDegrees(whole + (value - whole * 100) / 60);
  return side === negative && degrees !== 0 ? -degrees : degrees;
}

/** What the number of a field is at least and at most; another one is no measurement. */
const ranges = { altitude: [-1000, 100_000], speed: [0, 10_000], course: [0, 360] } as const;

function optional(name: keyof typeof ranges, text: string | undefined) {
  const value = isGiven(text) ? parseDecimal(text) : mismatch;
  const [least, most] = ranges[name];
  if (value === mismatch || value < least || value > most) return {};
  return { [name]: name === "course" ? value % 360 : value };
}

function readNumber(parts: Parts, name: "satellites" | "hdop", text: string | undefined): void {
  if (!isGiven(text)) return;
  const value = parseDecimal(text);
  if (value === mismatch || value < 0) parts.attributes[`${name}Text`] = text;
  else put(parts, name, value, `${name}Text`);
}

/** Inputs or outputs: a number whose lowest bit is the first. The 16 above the eighth are kept as they come. */
function readBits(parts: Parts, names: readonly ReadingName[], attribute: string, text: string | undefined): void {
  if (!isGiven(text)) return;
  const value = parseDecimal(text);
  if (value === mismatch || value < 0 || value > 0xffffffff || !Number.isInteger(value)) {
    parts.attributes[attribute] = text;
    return;
  }
  Object.assign(parts.readings, Object.fromEntries(names.map((name, index) => [name, ((value >>> index) & 1) === 1])));
  if (value > 0xff) parts.attributes[attribute] = value;
}

/** Analogue inputs, joined by commas. */
function readAnalogs(parts: Parts, text: string | undefined): void {
  if (!isGiven(text)) return;
  for (const [index, one] of text.split(",").entries()) {
    const value = parseDecimal(one);
    const name = analogs[index];
    if (value === mismatch) continue;
    if (name === undefined) parts.attributes[`adc${index + 1}`] = value;
    else put(parts, name, value, `adc${index + 1}`);
  }
}

/** Parameters that mean the same in all trackers. Others have the names that somebody gave them. */
const known: ReadonlyMap<string, NumberReading> = new Map([
  ["bat", "battery"],
  ["temp", "deviceTemperature"],
]);
const cellFields: ReadonlyMap<string, keyof Cell> = new Map([
  ["mcc", "mcc"],
  ["mnc", "mnc"],
  ["lac", "lac"],
  ["cell_id", "cellId"],
]);

/**
 * `name:type:value` of each, joined by commas; types are 1 (integer), 2 (decimal), 3 (text). (1.1, "Data packet"; 2.0,
 * 3.3)
 */
function readParameters(parts: Parts, text: string): void {
  const cells: { [K in keyof Cell]?: number }[] = [];
  for (const parameter of text.split(",")) {
    const first = parameter.indexOf(":");
    const second = parameter.indexOf(":", first + 1);
    if (first < 1 || second < 0) continue;
    const name = parameter.slice(0, first);
    const given = parameter.slice(second + 1);
    const number = parseDecimal(given);
    if (name === "SOS") {
      if (number === 1) parts.alarms.push("sos");
      continue;
    }
    if (number !== mismatch && readCell(cells, name, number)) continue;
    const reading = known.get(name);
    if (reading !== undefined && number !== mismatch) put(parts, reading, number, `param.${name}`);
    else if (name.length <= 128)
      parts.attributes[attributeName(name)] = number === mismatch || parameter[first + 1] === "3" ? given : number;
  }
  const serving = cellsText(cells.filter(({ cellId }) => cellId !== undefined));
  if (serving !== undefined) parts.attributes.cells = serving;
}

/** `mcc1`, `mnc1`, `lac1`, `cell_id1` and so on name the fields of a cell. */
function readCell(cells: { [K in keyof Cell]?: number }[], name: string, value: number): boolean {
  const digit = name.charCodeAt(name.length - 1) - 0x31;
  const field = cellFields.get(name.slice(0, -1));
  if (field === undefined || !(digit >= 0 && digit <= 8)) return false;
  while (cells.length <= digit) cells.push({});
  Object.assign(cells[digit] ?? {}, { [field]: value });
  return true;
}

/** A parameter's name, or the name behind `param.` where the service has a use of its own for it. */
function attributeName(name: string): string {
  return reservedAttributes.has(name) || name === "cells" || name === "wifi" ? `param.${name}` : name;
}
