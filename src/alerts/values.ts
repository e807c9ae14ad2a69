import type { Comparable } from "../model/alert-rule.ts";
import { isReading, type ReadingName, type Readings, readingRows } from "../model/readings.ts";
import type { Seen } from "./judge.ts";

/** Fields of a location that can be compared beside its readings and attributes. */
const fields: Readonly<Record<string, (seen: Seen) => number | undefined>> = {
  speed: speedOf,
  course: ({ observation, placed }) => (placed ? observation?.course : undefined),
  altitude: ({ observation, placed }) => (placed ? observation?.altitude : undefined),
  milleage: milleageOf,
};

/** The speed of a credible position, km/h. */
export function speedOf({ observation, placed }: Seen): number | undefined {
  return placed ? observation?.speed : undefined;
}

/** The device's mileage as the API has it, km. */
export function milleageOf(seen: Seen): number {
  return seen.device.odometerStart + seen.totals.odometerMm / 1_000_000;
}

/** Kind of what a name stands for; undefined: an attribute of the tracker's, of any kind. */
export function kindOf(name: string): "number" | "boolean" | "string" | undefined {
  if (isReading(name)) return readingRows[name].kind;
  return Object.hasOwn(fields, name) ? "number" : undefined;
}

/**
 * Reads what a name stands for: a field of the location, a reading, else an attribute. Made once for each rule. A
 * record that has just come is read as the same record from storage, where values of attributes are text.
 */
export function readerOf(name: string): (seen: Seen) => Comparable | undefined {
  if (isReading(name)) {
    const read = readingReader(name);
    return ({ observation }) => observation && read(observation.readings);
  }
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field !== undefined) return field;
  return ({ observation }) => {
    const attributes = observation?.attributes;
    return attributes !== undefined && Object.hasOwn(attributes, name) ? String(attributes[name]) : undefined;
  };
}

/** Reads a reading. An input or output below the highest that was reported counts as reported and off. */
function readingReader(name: ReadingName): (readings: Readings) => Comparable | undefined {
  const [, kind, place] = /^(input|output)([1-8])$/.exec(name) ?? [];
  if (kind === undefined) return (readings) => readings[name];
  const above = Array.from({ length: 8 - Number(place) }, (_, at) => `${kind}${Number(place) + at + 1}`).filter(
    isReading,
  );
  return (readings) => readings[name] ?? (above.some((one) => readings[one] !== undefined) ? false : undefined);
}

/**
 * The same as a number: an attribute that came as text counts where it is the text of a number; anything else is not
 * there.
 */
export function numberReaderOf(name: string): (seen: Seen) => number | undefined {
  const read = readerOf(name);
  return (seen) => {
    const value = read(seen);
    if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
    return typeof value === "string" ? numberOf(value) : undefined;
  };
}

function numberOf(text: string): number | undefined {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Whether a value is the one that a rule asks for. Attributes are text, so for the number 12 `"12"` and `"12.0"` are
 * the same, and `"true"` is true.
 */
export function equals(value: Comparable, wanted: Comparable): boolean {
  if (typeof value === typeof wanted) return value === wanted;
  if (typeof wanted === "number") return typeof value === "string" && numberOf(value) === wanted;
  if (typeof value === "number") return typeof wanted === "string" && numberOf(wanted) === value;
  return String(value) === String(wanted);
}
