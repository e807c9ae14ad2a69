import type { Effect } from "../../model/effects.ts";
import { type Draft, fixOf, type Position, readingsOf } from "../../wire/report.ts";
import { digitsValue, latitude, longitude, mismatch, numberOf } from "../../wire/text.ts";
import { kmhOfKnots } from "../../wire/units.ts";

/** A message whose time or coordinates can't be read. */
export const malformed: readonly Effect[] = Object.freeze([{ type: "failure", cause: "malformed" } as const]);

const mostKnots = 1000;

/** km/h of knots; more than no vehicle has is a damaged number. */
export function kmhOf(text: string | undefined): number | undefined {
  const knots = numberOf(text);
  return knots === undefined || knots < 0 || knots > mostKnots ? undefined : kmhOfKnots(knots);
}

/** Digits with their last one or two behind the point: `1251` is 12.51. Undefined: they are none. */
export function scaled(text: string | undefined, divisor: 1 | 10 | 100): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = digitsValue(text, 0, text.length);
  return value === mismatch ? undefined : value / divisor;
}

/**
 * `STTT` in tenths of a degree, `-` or a digit first (AVL02, 3). Without a probe it is 0000, which no manual tells from
 * 0 °C: absent.
 */
export function celsius(text: string | undefined): number | undefined {
  if (text === undefined || !/^[-\d]\d{3}$/.test(text) || text === "0000") return undefined;
  return Number(text) / 10;
}

/** Degrees of both; undefined where one can't be read. */
export function placeOf(
  lat: string | undefined,
  northSouth: string | undefined,
  lon: string | undefined,
  eastWest: string | undefined,
): Pick<Position, "latitude" | "longitude"> | undefined {
  const north = latitude.read([lat ?? "", northSouth ?? ""], 0);
  const east = longitude.read([lon ?? "", eastWest ?? ""], 0);
  return north === mismatch || east === mismatch ? undefined : { latitude: north, longitude: east };
}

/** `ddmmyy` in front as `yymmdd`. */
export function dateFirstByYear(text: string): string {
  return text.slice(4, 6) + text.slice(2, 4) + text.slice(0, 2) + text.slice(6);
}

/** A fix; without GPS time the readings alone, of the time of the tracker's clock where it has one. */
export function positioned(
  position: (Omit<Position, "time"> & { readonly time: number | undefined }) | undefined,
  report: Draft,
  clock: number | undefined,
): Effect {
  if (position === undefined || (position.time === undefined && !position.valid)) return readingsOf(report, clock);
  return fixOf(position, report);
}
