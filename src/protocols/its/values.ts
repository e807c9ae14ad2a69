import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { type Draft, put } from "../../wire/report.ts";
import { percentOf } from "../../wire/text.ts";

/** Keeps a field's text under the manual's name. */
export function keep(report: Draft, name: string, text: string): void {
  if (text !== "") report.attributes[name] = text;
}

/** Keeps a field's number, or its text where it is none, under the manual's name. */
export function keepNumber(report: Draft, name: string, text: string): void {
  const value = percentOf(text);
  if (value === undefined) keep(report, name, text);
  else report.attributes[name] = value;
}

/** Puts a field's number where the catalogue says; what is no number is kept as text. */
export function putText(report: Draft, reading: NumberReading, text: string, manualName: string, factor = 1): void {
  const value = percentOf(text);
  if (value === undefined) keep(report, manualName, text);
  else put(report, reading, Math.round(value * factor * 1e6) / 1e6, manualName);
}

/** Puts `1` or `0`; what is neither is kept as text. */
export function putFlag(report: Draft, reading: FlagReading, text: string, manualName: string): void {
  if (text === "1" || text === "0") report.readings[reading] = text === "1";
  else keep(report, manualName, text);
}
