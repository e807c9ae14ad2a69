import type { UnitSystem } from "../model/alert-rule.ts";

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
  rpm: plain("rpm", 0),
  number: plain("", 3),
} as const satisfies Record<string, Readonly<Record<UnitSystem, Unit>>>;

/** Something that is measured. */
export type Quantity = keyof typeof quantities;

/** What the attributes that a rule can compare are, where it is not a bare number. */
const attributeQuantities: ReadonlyMap<string, Quantity> = new Map<string, Quantity>([
  ["speed", "speed"],
  ["vehicleSpeed", "speed"],
  ["milleage", "distance"],
  ["odometer", "distance"],
  ["tripOdometer", "distance"],
  ["temperature", "temperature"],
  ["temperature2", "temperature"],
  ["temperature3", "temperature"],
  ["temperature4", "temperature"],
  ["deviceTemperature", "temperature"],
  ["coolantTemperature", "temperature"],
  ["battery", "share"],
  ["fuel", "share"],
  ["fuel2", "share"],
  ["humidity", "share"],
  ["engineLoad", "share"],
  ["throttle", "share"],
  ["signal", "share"],
  ["batteryVoltage", "voltage"],
  ["externalVoltage", "voltage"],
  ["analog1", "voltage"],
  ["analog2", "voltage"],
  ["analog3", "voltage"],
  ["analog4", "voltage"],
  ["fuelVolume", "volume"],
  ["fuelVolume2", "volume"],
  ["fuelUsed", "volume"],
  ["rpm", "rpm"],
]);

/** What an attribute measures. */
export function quantityOf(attribute: string): Quantity {
  return attributeQuantities.get(attribute) ?? "number";
}
