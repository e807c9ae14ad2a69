import { utc } from "./time.ts";
import { roundDegrees } from "./units.ts";

/**
 * What a field's reader answers for text that is not of its form. A value of its own, so that "absent" can be one too.
 */
export const mismatch: unique symbol = Symbol("mismatch");

/** Reads one named value from the fields of a split sentence. */
export interface Field<T> {
  /** How many fields it takes: 2 for a coordinate and its hemisphere. */
  readonly width: number;
  /** The value at `fields[at]`; a field behind the end reads as undefined there. */
  readonly read: (fields: readonly string[], at: number) => T | typeof mismatch;
}

/** The values that a grammar's fields give, under their names. */
export type Values<G extends Readonly<Record<string, Field<unknown>>>> = {
  readonly [K in keyof G]: G[K] extends Field<infer T> ? T : never;
};

/** A sentence that is not of its grammar, with the name of the first field that isn't. */
export class Mismatch {
  readonly field: string;

  constructor(field: string) {
    this.field = field;
  }
}

/** Named fields in their order in the sentence. */
export interface Grammar<G extends Readonly<Record<string, Field<unknown>>>> {
  /** Fields that it takes: what follows starts at `at + width`. */
  readonly width: number;
  readonly read: (fields: readonly string[], at: number) => Values<G> | Mismatch;
}

/**
 * A grammar for sentences that are split at a delimiter once, `text.split(",")`, and read by position.
 * Example: `grammar({ time: optional(hhmmss), latitude: latitude, longitude: longitude, speed: decimal })`.
 */
export function grammar<const G extends Readonly<Record<string, Field<unknown>>>>(form: G): Grammar<G> {
  const names = Object.keys(form);
  const readers = Object.values(form);
  const width = readers.reduce((sum, field) => sum + field.width, 0);
  return {
    width,
    read(fields, start) {
      const values: Record<string, unknown> = {};
      let at = start;
      for (let index = 0; index < readers.length; index++) {
        const field = readers[index];
        const name = names[index];
        if (field === undefined || name === undefined) continue;
        const value = field.read(fields, at);
        if (value === mismatch) return new Mismatch(name);
        values[name] = value;
        at += field.width;
      }
      // Each name of the form was given what its own reader answered, so the record is Values<G> by construction.
      return values as Values<G>;
    },
  };
}

/** A field of one text. */
export function field<T>(parse: (text: string) => T | typeof mismatch): Field<T> {
  return {
    width: 1,
    read: (fields, at) => {
      const text = fields[at];
      return text === undefined ? mismatch : parse(text);
    },
  };
}

/** The same field, which may be empty or missing (its first text decides): then undefined. */
export function optional<T>(inner: Field<T>): Field<T | undefined> {
  return {
    width: inner.width,
    read: (fields, at) => ((fields[at] ?? "") === "" ? undefined : inner.read(fields, at)),
  };
}

/**
 * The same field for what a report is good without: its own text where it is not of its form; undefined where it is
 * empty or missing.
 */
export function orText<T>(inner: Field<T>): Field<T | string | undefined> {
  return {
    width: inner.width,
    read: (fields, at) => {
      const text = fields[at] ?? "";
      if (text === "") return undefined;
      const value = inner.read(fields, at);
      return value === mismatch ? text : value;
    },
  };
}

/** One of some words, and what each means. Example: `oneOf({ A: true, V: false })`. */
export function oneOf<T>(meanings: { readonly [word: string]: T }): Field<T> {
  const table = new Map(Object.entries(meanings));
  return field((text) => {
    const meaning = table.get(text);
    return meaning === undefined ? mismatch : meaning;
  });
}

/** Any text, also an empty one. */
export const anyText: Field<string> = field((text) => text);

/** ASCII digits only, `min` to `max` of them, as text: identifiers, whose leading zeros count. */
export function digits(min: number, max: number = min): Field<string> {
  return field((text) => (text.length >= min && text.length <= max && isDigits(text) ? text : mismatch));
}

/** A number in ASCII digits, without sign. */
export const integer: Field<number> = field((text) => (text.length > 0 ? digitsValue(text, 0, text.length) : mismatch));

/** A decimal number such as `12`, `-0.5`, `+3.`; blanks around it, with which some firmware pads, are passed over. */
export const decimal: Field<number> = field(parseDecimal);

/** A hexadecimal number of `min` to `max` digits (at most 8). */
export function hex(min: number, max: number = min): Field<number> {
  return field((text) => (text.length >= min && text.length <= max ? parseHex(text) : mismatch));
}

/** `hhmmss`, also with a fraction: milliseconds since midnight. */
export const hhmmss: Field<number> = field((text) => {
  if (text.length < 6 || (text.length > 6 && text[6] !== ".")) return mismatch;
  const hours = digitsValue(text, 0, 2);
  const minutes = digitsValue(text, 2, 4);
  const seconds = text.length === 6 ? digitsValue(text, 4, 6) : parseDecimal(text.slice(4));
  if (hours === mismatch || minutes === mismatch || seconds === mismatch) return mismatch;
  if (hours > 23 || minutes > 59 || seconds >= 60) return mismatch;
  return hours * 3_600_000 + minutes * 60_000 + Math.round(seconds * 1000);
});

/** `ddmmyy`: epoch ms of that day's start (UTC); a day that no calendar has is a mismatch. */
export const ddmmyy: Field<number> = field((text) => {
  if (text.length !== 6) return mismatch;
  const day = digitsValue(text, 0, 2);
  const month = digitsValue(text, 2, 4);
  const year = digitsValue(text, 4, 6);
  if (day === mismatch || month === mismatch || year === mismatch) return mismatch;
  return utc(year, month, day) ?? mismatch;
});

/** Degrees and minutes `ddmm.mmmm`, then `N` or `S`: degrees, south negative. Takes two fields. */
export const latitude: Field<number> = hemisphere("N", "S", degreesMinutes);
/** Degrees and minutes `dddmm.mmmm`, then `E` or `W`: degrees, west negative. Takes two fields. */
export const longitude: Field<number> = hemisphere("E", "W", degreesMinutes);

/**
 * A coordinate in two fields, value and hemisphere: `parse` gives degrees without sign. Degrees that no place has are
 * given as sent: such a report is refused, and acknowledged.
 */
export function hemisphere(
  positive: string,
  negative: string,
  parse: (text: string) => number | typeof mismatch,
): Field<number> {
  return {
    width: 2,
    read: (fields, at) => {
      const sign = fields[at + 1];
      if (sign !== positive && sign !== negative) return mismatch;
      const degrees = parse(fields[at] ?? "");
      if (degrees === mismatch) return mismatch;
      // Not `-degrees` for the equator: a negative zero would be told from zero by every exact comparison.
      return sign === negative && degrees !== 0 ? -degrees : degrees;
    },
  };
}

/** Degrees of `dddmm.mmmm`: the two digits before the point and what follows are minutes. */
export function degreesMinutes(text: string): number | typeof mismatch {
  const point = text.indexOf(".");
  if (point < 2) return mismatch;
  const degrees = point === 2 ? 0 : digitsValue(text, 0, point - 2);
  const minutes = fraction(text, point - 2, point);
  return degrees === mismatch ? mismatch : degreesOf(degrees, minutes);
}

/** Degrees of whole degrees and minutes; minutes of 60 and more are no minutes. */
export function degreesOf(degrees: number, minutes: number | typeof mismatch): number | typeof mismatch {
  return minutes === mismatch || minutes >= 60 ? mismatch : roundDegrees(degrees + minutes / 60);
}

/** `dddmm.mmmm` of degrees without their sign: `width` digits before the minutes, `places` behind the point. */
export function degreesMinutesText(degrees: number, width: number, places = 4): string {
  const inMinute = 10 ** places;
  const parts = Math.round(Math.abs(degrees) * 60 * inMinute);
  const whole = String(Math.floor(parts / (60 * inMinute))).padStart(width, "0");
  return whole + ((parts % (60 * inMinute)) / inMinute).toFixed(places).padStart(places + 3, "0");
}

/** The value of the digits text[from, to); one beyond 2^53 is none, since a number can't hold it. */
export function digitsValue(text: string, from: number, to: number): number | typeof mismatch {
  let value = 0;
  for (let index = from; index < to; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return mismatch;
    value = value * 10 + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : mismatch;
}

/** A decimal number: sign, digits, point and digits; no exponent, no hex, nothing behind it. */
export function parseDecimal(text: string): number | typeof mismatch {
  const trimmed = text.trim();
  const sign = trimmed.charCodeAt(0);
  const from = sign === 0x2b || sign === 0x2d ? 1 : 0;
  const value = fraction(trimmed, from, trimmed.indexOf(".", from));
  return value === mismatch || sign !== 0x2d || value === 0 ? value : -value;
}

/** The decimal number of a field; undefined where it is absent, empty or none. */
export function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined ? mismatch : parseDecimal(text);
  return value === mismatch ? undefined : value;
}

/** As `numberOf`, of a field that may end in a percent sign. */
export function percentOf(text: string | undefined): number | undefined {
  return numberOf(text?.endsWith("%") === true ? text.slice(0, -1) : text);
}

/** Powers of ten up to this one are whole numbers that a double holds exactly. */
const mostDecimals = 15;

function fraction(text: string, from: number, point: number): number | typeof mismatch {
  const whole = digitsValue(text, from, point < 0 ? text.length : point);
  if (point < 0) return from < text.length ? whole : mismatch;
  const count = text.length - point - 1;
  if (whole === mismatch || (count === 0 && point === from)) return mismatch;
  if (count <= mostDecimals) {
    const decimals = digitsValue(text, point + 1, text.length);
    if (decimals === mismatch) return mismatch;
    const scale = 10 ** count;
    const scaled = whole * scale + decimals;
    // One division of whole numbers gives the nearest double. A sum of the two parts may give the double beside it.
    if (scaled <= Number.MAX_SAFE_INTEGER) return scaled / scale;
  }
  // Slower, and seldom needed: for a double that is printed in full, with up to 17 digits.
  return isDigits(text, point + 1) ? Number(text.slice(from)) : mismatch;
}

function isDigits(text: string, from = 0): boolean {
  for (let index = from; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return false;
  }
  return true;
}

/** The number that one to eight hexadecimal digits give; undefined where the field is absent, empty or none. */
export function hexOf(text: string | undefined): number | undefined {
  const value = text === undefined ? mismatch : parseHex(text);
  return value === mismatch ? undefined : value;
}

function parseHex(text: string): number | typeof mismatch {
  if (text.length === 0 || text.length > 8) return mismatch;
  let value = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const digit = code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
    if (!(digit >= 0 && digit <= 15) || (code > 0x39 && digit < 10)) return mismatch;
    value = value * 16 + digit;
  }
  return value;
}
