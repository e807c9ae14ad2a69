import type { UnitSystem } from "../model/alert-rule.ts";
import type { ReadingUnit } from "../model/reading-rows.ts";
import { isReading, readingRows } from "../model/readings.ts";

/** How a unit of the API is written in a system of units. */
interface Unit {
  readonly symbol: string;
  readonly factor: number;
  readonly offset: number;
  /** Decimals at most. */
  readonly digits: number;
}

const plain = (symbol: string, digits: number): Record<UnitSystem, Unit> => {
  const unit = { symbol, factor: 1, offset: 0, digits };
  return { metric: unit, imperial: unit };
};

/** International mile (1959): 1.609344 km. */
const milesInKm = 1 / 1.609344;
/** Avoirdupois pound (1959): 0.45359237 kg. */
const kilogramsInPounds = 1 / 0.45359237;
/** Pound-force per square inch: 6.894757 kPa. */
const kilopascalsInPsi = 1 / 6.894757;

/** What is measured, with the unit of the API in the metric column. */
export const quantities = {
  speed: {
    metric: { symbol: "km/h", factor: 1, offset: 0, digits: 1 },
    imperial: { symbol: "mph", factor: milesInKm, offset: 0, digits: 1 },
  },
  distance: {
    metric: { symbol: "km", factor: 1, offset: 0, digits: 1 },
    imperial: { symbol: "mi", factor: milesInKm, offset: 0, digits: 1 },
  },
  temperature: {
    metric: { symbol: "°C", factor: 1, offset: 0, digits: 1 },
    imperial: { symbol: "°F", factor: 1.8, offset: 32, digits: 1 },
  },
  share: plain("%", 1),
  voltage: plain("V", 2),
  volume: plain("l", 1),
  pressure: {
    metric: { symbol: "kPa", factor: 1, offset: 0, digits: 1 },
    imperial: { symbol: "psi", factor: kilopascalsInPsi, offset: 0, digits: 1 },
  },
  mass: {
    metric: { symbol: "kg", factor: 1, offset: 0, digits: 0 },
    imperial: { symbol: "lb", factor: kilogramsInPounds, offset: 0, digits: 0 },
  },
  rpm: plain("rpm", 0),
  number: plain("", 3),
} as const satisfies Record<string, Readonly<Record<UnitSystem, Unit>>>;

/** Something that is measured. */
export type Quantity = keyof typeof quantities;

/** What is measured in a unit of the catalogue of readings, where it is not a bare number. */
const unitQuantities: Readonly<Partial<Record<ReadingUnit, Quantity>>> = {
  "km/h": "speed",
  km: "distance",
  "°C": "temperature",
  "%": "share",
  V: "voltage",
  l: "volume",
  "1/min": "rpm",
  kPa: "pressure",
  kg: "mass",
};

/** What an attribute measures that a rule can compare. */
export function quantityOf(attribute: string): Quantity {
  if (attribute === "speed") return "speed";
  if (attribute === "milleage") return "distance";
  const row = isReading(attribute) ? readingRows[attribute] : undefined;
  return (row?.kind === "number" ? unitQuantities[row.unit] : undefined) ?? "number";
}
