import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { type Draft, put } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";

/** A whole number without sign; undefined: the text is none. */
export function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** A number as the reading, or under its tag where the reading can't have it; other text under its tag. */
export function putNumber(report: Draft, name: NumberReading, text: string, tag: string): void {
  const value = numberOf(text);
  if (value === undefined) report.attributes[tag] = text;
  else put(report, name, value, tag);
}

/** `1` or `0` as the reading; other text under its tag. */
export function putFlag(report: Draft, name: FlagReading, text: string, tag: string): void {
  if ((text !== "0" && text !== "1") || report.readings[name] !== undefined) report.attributes[tag] = text;
  else report.readings[name] = text === "1";
}

/**
 * A number that is written without needless zeros, else the text as it is: leading zeros may belong to a number of
 * something.
 */
export function plainOf(text: string): number | string {
  return /^(?:0|-?[1-9]\d{0,9}|-?(?:0|[1-9]\d{0,9})\.\d{0,6})$/.test(text) ? (numberOf(text) ?? text) : text;
}
