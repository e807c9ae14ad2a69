import type { Effect } from "../../model/effects.ts";
import type { NumberReading } from "../../model/readings.ts";
import { type Draft, draft, readingsOrNothing } from "../../wire/report.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { numeric } from "./position.ts";

/** A measured value, which is 0 where the measurement failed (part III, 3). */
function measured(report: Draft, text: string | undefined, name: NumberReading, manualName: string): void {
  if (parseDecimal(text ?? "") !== 0) numeric(report, text, name, manualName);
}

/** A value that the wearer has entered. */
function entered(report: Draft, text: string | undefined, name: string): void {
  if (text === undefined || text === "") return;
  const value = parseDecimal(text);
  report.attributes[name] = value === mismatch ? text : value;
}

const nothing = "a measurement that failed";

/** `heart,72` and `PULSE,72`. */
export function readHeart(fields: readonly string[]): Effect {
  const report = draft();
  measured(report, fields[1], "heartRate", "heart");
  return readingsOrNothing(report, nothing);
}

/**
 * `bphrt,systolic,diastolic,heart rate,height,sex,age,weight`, and `BLOOD`, which has only the first two or three (part
 * III, 3).
 */
export function readBlood(fields: readonly string[]): Effect {
  const report = draft();
  measured(report, fields[1], "systolic", "highPressure");
  measured(report, fields[2], "diastolic", "lowPressure");
  measured(report, fields[3], "heartRate", "heart");
  for (const [index, name] of ["heightCm", "gender", "age", "weightKg"].entries())
    entered(report, fields[4 + index], name);
  return readingsOrNothing(report, nothing);
}

/** `oxygen,type,percentage` (part III, 4). */
export function readOxygen(fields: readonly string[]): Effect {
  const report = draft();
  measured(report, fields[2], "bloodOxygen", "oxy");
  return readingsOrNothing(report, nothing);
}

/** `TEMP,36.5`. */
export function readTemperature(fields: readonly string[]): Effect {
  const report = draft();
  measured(report, fields[1], "bodyTemperature", "temp");
  return readingsOrNothing(report, nothing);
}

/**
 * `btemp2,type,temperature`: at the forehead (0) or the wrist (1); a temperature of 0 is one too low to be measured, 1
 * one too high (part VI, 1).
 */
export function readBodyTemperature(fields: readonly string[]): Effect {
  const report = draft();
  const value = parseDecimal(fields[2] ?? "");
  if (value === 0 || value === 1) report.attributes.abnormalTemperature = value === 0 ? "low" : "high";
  else numeric(report, fields[2], "bodyTemperature", "temp");
  entered(report, fields[1], "measurementMode");
  return readingsOrNothing(report, nothing);
}
