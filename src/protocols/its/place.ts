import type { Draft } from "../../wire/report.ts";
import { hemisphere, mismatch, parseDecimal } from "../../wire/text.ts";
import { utc } from "../../wire/time.ts";
import type { Fields } from "./sentence.ts";

/** A time that can't be read: the message is malformed. */
export const noTime: unique symbol = Symbol("no time");

/**
 * `ddmmyyyy,hhmmss`, `ddmmyy,hhmmss`, both in one field, or each pair of digits in a field of its own. A date that
 * no calendar has is none, and the report says what was sent. Undefined: there is no date.
 */
export function readTime(report: Draft, fields: Fields): number | undefined | typeof noTime {
  const first = fields.next();
  const both = first.length === 14;
  const date = both ? first.slice(0, 8) : first.length === 2 ? first + fields.next() + fields.next() : first;
  const clock = both ? first.slice(8) : fields.next();
  const time = clock.length === 2 ? clock + fields.next() + fields.next() : clock;
  if (date === "" && time === "") return undefined;
  if (!/^\d{6}(?:\d\d)?$/.test(date) || !/^\d{6}$/.test(time)) return noTime;
  const part = (text: string, at: number, end = at + 2) => Number(text.slice(at, end));
  const day = utc(part(date, 4, 8), part(date, 2), part(date, 0), part(time, 0), part(time, 2), part(time, 4));
  if (day !== undefined) return day;
  report.attributes.reportedDate = date;
  report.attributes.reportedTime = time;
  return undefined;
}

function degrees(text: string): number | typeof mismatch {
  return /^\d/.test(text) ? parseDecimal(text) : mismatch;
}

const latitude = hemisphere("N", "S", degrees);
const longitude = hemisphere("E", "W", degrees);

/** Degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** Latitude, N or S, longitude, E or W. "none": the fields are empty. Undefined: they can't be read. */
export function readPlace(fields: Fields): Place | "none" | undefined {
  const { all, at } = fields;
  fields.at += 4;
  if ((all[at] ?? "") === "" && (all[at + 2] ?? "") === "") return "none";
  const north = latitude.read(all, at);
  const east = longitude.read(all, at + 2);
  return north === mismatch || east === mismatch ? undefined : { latitude: north, longitude: east };
}

/** Without a fix the trackers give 0, 0. */
export function isSomewhere({ latitude, longitude }: Place): boolean {
  return latitude !== 0 || longitude !== 0;
}
