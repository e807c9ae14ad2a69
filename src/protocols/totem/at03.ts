import type { FlagReading } from "../../model/readings.ts";
import { type Draft, draft, put, raise, reportedTime } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { avlAlarms } from "./alarms.ts";
import { acknowledgement, putAnalog, putCell, putProbes } from "./avl.ts";
import type { Read } from "./sentence.ts";
import { dateFirstByYear, kmhOf, malformed, placeOf, positioned, scaled } from "./values.ts";

/** The twelve flags of AT03, the first first. */
const flags: readonly (FlagReading | "antenna" | "charger")[] = [
  "antenna",
  "charger",
  "input1",
  "input2",
  "input3",
  "input4",
  "input5",
  "input6",
  "output1",
  "output2",
  "output3",
  "output4",
];

function putFlags(report: Draft, isSet: (index: number) => boolean): void {
  for (const [index, name] of flags.entries())
    if (name === "antenna" || name === "charger") report.attributes[name] = isSet(index);
    else report.readings[name] = isSet(index);
}

function putEvent(report: Draft, kind: string): void {
  report.attributes.event = kind;
  const alarm = avlAlarms.get(kind);
  if (alarm !== undefined) raise(report, alarm);
}

/** `ABBPP`: charging, battery in tenths of a volt, supply in volts. */
function putPower(report: Draft, text: string): void {
  if (!/^[01]\d{4}$/.test(text)) return;
  report.readings.charging = text[0] === "1";
  put(report, "batteryVoltage", scaled(text.slice(1, 3), 10), "batteryText");
  put(report, "externalVoltage", scaled(text.slice(3), 1), "externalText");
}

/**
 * A report of AT03 between bars: time, validity, place, knots, course, HDOP, flags, power, analog inputs, cell, probes,
 * odometer in km, serial number.
 */
export const readFields: Read = ({ kind, body }) => {
  const report = draft();
  const fields = body.split("|");
  const time = reportedTime(report, dateFirstByYear(fields[0] ?? ""));
  const place = placeOf(fields[2], fields[3], fields[4], fields[5]);
  if (time === undefined || place === undefined) return malformed;
  putEvent(report, kind);
  put(report, "hdop", numberOf(fields[8]), "horizontalDilution");
  const status = fields[9] ?? "";
  if (status !== "") report.attributes.status = status;
  if (/^[01]{12}$/.test(status)) putFlags(report, (index) => status[index] === "1");
  putPower(report, fields[10] ?? "");
  putAnalog(report, fields[11] ?? "");
  putCell(report, fields[12] ?? "");
  putProbes(report, fields[13] ?? "");
  put(report, "odometer", numberOf(fields[14]), "mileage");
  const position = { ...place, time, valid: fields[1] === "A", speed: kmhOf(fields[6]), course: numberOf(fields[7]) };
  return [positioned(position, report, undefined), acknowledgement];
};

/** Whole degrees of a probe; zeros: there is none. */
function wholeDegrees(text: string): number | undefined {
  return text === "000" ? undefined : scaled(text, 1);
}

/** A report of AT03 without bars: every part at its place. */
export const readFixed: Read = ({ kind, body }) => {
  const report = draft();
  const at = (from: number, length: number): string => body.slice(from, from + length);
  const time = reportedTime(report, dateFirstByYear(at(0, 12)));
  const place = placeOf(at(63, 9), at(72, 1), at(73, 10), at(83, 1));
  if (time === undefined || place === undefined) return malformed;
  putEvent(report, kind);
  const status = hexOf(at(12, 4));
  report.attributes.status = at(12, 4);
  if (status !== undefined) putFlags(report, (index) => ((status >> (15 - index)) & 1) === 1);
  putPower(report, at(16, 5));
  putAnalog(report, at(21, 8));
  put(report, "temperature", wholeDegrees(at(29, 3)), "probe1");
  put(report, "temperature2", wholeDegrees(at(32, 3)), "probe2");
  putCell(report, at(35, 8));
  put(report, "satellites", scaled(at(44, 2), 1), "satelliteCount");
  put(report, "pdop", numberOf(at(52, 4)), "positionDilution");
  put(report, "odometer", scaled(at(56, 7), 1), "mileage");
  const position = { ...place, time, valid: at(43, 1) === "A", speed: kmhOf(at(49, 3)), course: numberOf(at(46, 3)) };
  return [positioned(position, report, undefined), acknowledgement];
};
