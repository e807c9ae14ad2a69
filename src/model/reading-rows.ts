/** Unit of a reading. Each quantity has one: what a manual gives in another one is converted when it is read. */
export type ReadingUnit =
  | ""
  | "%"
  | "V"
  | "A"
  | "km/h"
  | "km"
  | "m"
  | "s"
  | "l"
  | "l/h"
  | "l/100 km"
  | "°C"
  | "1/min"
  | "bpm"
  | "kPa"
  | "mmHg"
  | "g/s"
  | "g"
  | "kg"
  | "lx"
  | "ppm"
  | "dBm";

/** What a reading is called, for people. */
export interface ReadingLabel {
  readonly en: string;
  readonly es: string;
}

/**
 * A reading that is a number from `least` to `most`. A value outside is none: a code for "not measured", or a damaged
 * message.
 */
export interface NumberRow {
  readonly kind: "number";
  readonly unit: ReadingUnit;
  readonly least: number;
  readonly most: number;
  readonly label: ReadingLabel;
}

/** What a flag says of a part of the vehicle, as the API's `accessoriesAttributes` has it. */
export interface Accessory {
  readonly type: string;
  /** Status while the reading is true, and while it is false. */
  readonly yes: string;
  readonly no: string;
}

/** A reading that is true or false. */
export interface FlagRow {
  readonly kind: "boolean";
  readonly label: ReadingLabel;
  readonly accessory?: Accessory;
}

/** A reading that is a text. */
export interface TextRow {
  readonly kind: "string";
  readonly label: ReadingLabel;
}

/** One row of the catalogue of readings. */
export type ReadingRow = NumberRow | FlagRow | TextRow;

/** A row of a number in a unit. */
export function number(unit: ReadingUnit, least: number, most: number, en: string, es: string): NumberRow {
  return { kind: "number", unit, least, most, label: { en, es } };
}

/** A row of a percentage. */
export function percent(en: string, es: string): NumberRow {
  return number("%", 0, 100, en, es);
}

/** A row of a temperature, from absolute zero to what an exhaust has. */
export function celsius(en: string, es: string): NumberRow {
  return number("°C", -273, 1500, en, es);
}

/** A row of a count that never goes back but for a new start. */
export function count(en: string, es: string): NumberRow {
  return number("", 0, Number.MAX_SAFE_INTEGER, en, es);
}

/** A row of yes or no. */
export function flag(en: string, es: string, accessory?: Accessory): FlagRow {
  return { kind: "boolean", label: { en, es }, ...(accessory && { accessory }) };
}

/** A row of a text. */
export function text(en: string, es: string): TextRow {
  return { kind: "string", label: { en, es } };
}

/** Rows of several of a kind, numbered: `input1`, `input2` ... */
export function each<const Name extends string, const Numbers extends readonly number[], Row extends ReadingRow>(
  name: Name,
  numbers: Numbers,
  row: (number: number) => Row,
): { readonly [K in `${Name}${Numbers[number]}`]: Row } {
  // The names are made of these very parts.
  return Object.fromEntries(numbers.map((number) => [`${name}${number}`, row(number)])) as {
    readonly [K in `${Name}${Numbers[number]}`]: Row;
  };
}
