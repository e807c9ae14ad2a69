/** How a person reads quantities. Everything of the API is metric. */
export type UnitSystem = "metric" | "us" | "metricGallons";

/** What is measured, and in which unit the API gives it. */
export type Quantity = "speed" | "distance" | "temperature" | "volume" | "percent" | "voltage" | "rotation" | "seconds";

interface Unit {
  /** For `Intl.NumberFormat`; absent: `suffix` is written instead. */
  readonly unit?: string;
  readonly suffix?: string;
  readonly digits: number;
  readonly from: (value: number) => number;
}

const same = (value: number) => value;
const usual: Readonly<Record<Quantity, Unit>> = {
  speed: { unit: "kilometer-per-hour", digits: 0, from: same },
  distance: { unit: "kilometer", digits: 1, from: same },
  temperature: { unit: "celsius", digits: 1, from: same },
  volume: { unit: "liter", digits: 1, from: same },
  percent: { suffix: "%", digits: 0, from: same },
  voltage: { suffix: "V", digits: 2, from: same },
  rotation: { suffix: "1/min", digits: 0, from: same },
  seconds: { unit: "second", digits: 0, from: same },
};

/** The US liquid gallon is 3.785411784 l, and the mile 1.609344 km, by definition. */
const gallons: Unit = { unit: "gallon", digits: 1, from: (litres) => litres / 3.785411784 };
const us: Partial<Record<Quantity, Unit>> = {
  speed: { unit: "mile-per-hour", digits: 0, from: (kmh) => kmh / 1.609344 },
  distance: { unit: "mile", digits: 1, from: (km) => km / 1.609344 },
  temperature: { unit: "fahrenheit", digits: 1, from: (celsius) => celsius * 1.8 + 32 },
  volume: gallons,
};

function unitOf(quantity: Quantity, system: UnitSystem): Unit {
  if (system === "us") return us[quantity] ?? usual[quantity];
  return quantity === "volume" && system === "metricGallons" ? gallons : usual[quantity];
}

/** A quantity in the person's unit, as a number. */
export function inUnit(value: number, quantity: Quantity, system: UnitSystem): number {
  return unitOf(quantity, system).from(value);
}

/** A quantity in the person's unit and language, as text. */
export function quantityText(value: number, quantity: Quantity, system: UnitSystem, language: string): string {
  const { unit, suffix, digits, from } = unitOf(quantity, system);
  const options = { maximumFractionDigits: digits };
  if (unit === undefined) return `${new Intl.NumberFormat(language, options).format(from(value))} ${suffix}`;
  return new Intl.NumberFormat(language, { ...options, style: "unit", unit, unitDisplay: "short" }).format(from(value));
}

/** A time span in the two largest units that it has, as "2 h 5 min". */
export function spanText(seconds: number, language: string): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 86_400), "day"],
    [Math.floor((whole % 86_400) / 3600), "hour"],
    [Math.floor((whole % 3600) / 60), "minute"],
    [whole % 60, "second"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first < 0 ? [parts[3]] : parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown
    .map(([count, unit]) =>
      new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "narrow" }).format(count),
    )
    .join(" ");
}
