import type { UnitSystem } from "../../contract/export.ts";
import type { Location } from "../../contract/location.ts";
import { measured, unitOf } from "./units.ts";

/** One thing that is known of a location. */
export interface Value {
  readonly name: string;
  readonly value: string | number;
  /** Empty: it has none, or none that the service knows. */
  readonly unit: string;
}

/** Fields of a location that have a place of their own in every format, and lists. */
const elsewhere: ReadonlySet<string> = new Set(["dateTime", "latitude", "longitude", "attributes"]);

/** A number as the API gives it, in the units of a system; text that is no quantity as it is. */
export function quantityOf(name: string, given: string | number, system: UnitSystem): Value {
  const unit = unitOf(name);
  const number = typeof given === "number" ? given : quantityIn(given);
  if (unit === undefined || number === undefined) return { name, value: given, unit: "" };
  return { name, ...measured(number, unit, system) };
}

/** Values of attributes are texts, also those that are numbers. */
export function quantityIn(text: string): number | undefined {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** All that is known of a location beside its time and place, in the units of a system. Empty lists are left out. */
export function* valuesOf(location: Location, system: UnitSystem): Generator<Value, void, void> {
  for (const [name, given] of Object.entries(location)) {
    if (elsewhere.has(name) || given === false) continue;
    if (typeof given === "number") yield quantityOf(name, given, system);
    else if (given === true) yield { name, value: "true", unit: "" };
    else if (Array.isArray(given) && given.length > 0) yield { name, value: given.map(textOf).join("; "), unit: "" };
  }
  for (const [name, given] of Object.entries(location.attributes)) yield quantityOf(name, given, system);
}

/** An entry of one of a location's lists. */
function textOf(entry: unknown): string {
  if (typeof entry === "boolean") return entry ? "on" : "off";
  if (typeof entry !== "object" || entry === null) return String(entry);
  return Object.values(entry).map(String).join(": ");
}
