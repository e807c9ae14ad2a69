import { type Draft, put } from "../../wire/report.ts";
import { degreesMinutes, type Field, hemisphere, mismatch, parseDecimal, percentOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";

/** A whole number without sign; undefined: the text is none. */
export function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * Epoch ms of `ddmmyy` and `hhmmss`. Undefined, with what was reported as attributes: there is no such date.
 * `mismatch`: they are no digits.
 */
export function timeOf(date: string, clock: string, report: Draft): number | undefined | typeof mismatch {
  if (!/^\d{6}$/.test(date) || !/^\d{6}$/.test(clock)) return mismatch;
  const time = digitTime(date.slice(4) + date.slice(2, 4) + date.slice(0, 2) + clock);
  if (time !== undefined) return time;
  report.attributes.reportedDate = date;
  report.attributes.reportedTime = clock;
  return undefined;
}

/** Decimal degrees; what no place has is degrees and minutes `dddmm.mmmm`, which some firmware writes. */
function eitherDegrees(limit: number): (text: string) => number | typeof mismatch {
  return (text) => {
    const degrees = parseDecimal(text);
    if (degrees === mismatch || degrees < 0) return mismatch;
    return degrees <= limit ? roundDegrees(degrees) : degreesMinutes(text);
  };
}

/** Degrees in one of both forms, then `N` or `S`. */
export const eitherLatitude: Field<number> = hemisphere("N", "S", eitherDegrees(90));
/** Degrees in one of both forms, then `E` or `W`. */
export const eitherLongitude: Field<number> = hemisphere("E", "W", eitherDegrees(180));

/** Decimal degrees, as far as a number can go, then the hemisphere's letter. */
export const decimalLatitude: Field<number> = hemisphere("N", "S", parseDegrees);
export const decimalLongitude: Field<number> = hemisphere("E", "W", parseDegrees);

function parseDegrees(text: string): number | typeof mismatch {
  const degrees = parseDecimal(text);
  return degrees === mismatch || degrees < 0 || degrees > 1000 ? mismatch : degrees;
}

/** Puts a percentage with or without its sign. */
export function putBattery(text: string | undefined, report: Draft): void {
  const value = percentOf(text);
  if (value !== undefined) put(report, "battery", value, "batteryLevel");
  else if (text) report.attributes.batteryLevel = text;
}
