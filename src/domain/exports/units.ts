import type { UnitSystem } from "../../contract/export.ts";
import type { ReadingUnit } from "../../model/reading-rows.ts";
import { isReading, type ReadingName, readingRows } from "../../model/readings.ts";

/** A unit of another system, and what a value of the API's unit is in it. */
interface Other {
  readonly unit: string;
  readonly of: (value: number) => number;
}

/** A quantity with its unit. */
export interface Measured {
  readonly value: number;
  readonly unit: string;
}

/** km of a mile, m of a foot, l of a US gallon: by definition. */
const mile = 1.609344;
const foot = 0.3048;
const gallon = 3.785411784;

const gallons: { readonly [unit in ReadingUnit]?: Other } = {
  l: { unit: "gal", of: (litres) => litres / gallon },
  "l/h": { unit: "gal/h", of: (litres) => litres / gallon },
};

const systems: { readonly [system in UnitSystem]: { readonly [unit in ReadingUnit]?: Other } } = {
  metric: {},
  metricGallons: { ...gallons, "l/100 km": { unit: "gal/100 km", of: (litres) => litres / gallon } },
  us: {
    ...gallons,
    "l/100 km": { unit: "gal/100 mi", of: (litres) => (litres / gallon) * mile },
    "km/h": { unit: "mph", of: (kmh) => kmh / mile },
    km: { unit: "mi", of: (km) => km / mile },
    m: { unit: "ft", of: (metres) => metres / foot },
    "°C": { unit: "°F", of: (celsius) => celsius * 1.8 + 32 },
  },
};

/** A quantity in a system's unit, to a thousandth of it; as it is where that is the API's own unit. */
export function measured(value: number, unit: ReadingUnit, system: UnitSystem): Measured {
  const other = systems[system][unit];
  return other === undefined ? { value, unit } : { value: Number(other.of(value).toFixed(3)), unit: other.unit };
}

/** What a system calls its unit in the place of one of the API. */
export function unitIn(unit: ReadingUnit, system: UnitSystem): string {
  return systems[system][unit]?.unit ?? unit;
}

/** The API's units of what is no reading. */
const ownUnits: ReadonlyMap<string, ReadingUnit> = new Map([
  ["speed", "km/h"],
  ["milleage", "km"],
  ["altitude", "m"],
  ["inactiveSeconds", "s"],
  ...([1, 2, 3, 4] as const).map((input) => [`sensorTime${input}`, "s"] as const),
]);

/** The API's unit of a field or an attribute of a location; undefined: it is no quantity that the service knows. */
export function unitOf(name: string): ReadingUnit | undefined {
  return ownUnits.get(name) ?? (isReading(name) ? unitOfReading(name) : undefined);
}

function unitOfReading(name: ReadingName): ReadingUnit | undefined {
  const row = readingRows[name];
  return row.kind === "number" ? row.unit : undefined;
}
