import { type FuelTable, litresAt } from "../../model/fuel-table.ts";
import type { Seen } from "../judge.ts";
import { numberReaderOf } from "../values.ts";
import { within } from "./check.ts";

/** In what a rule counts the level of a tank. */
export type FuelUnit = "percent" | "litres";

/** More litres than any vehicle's tank holds. */
const mostLitres = 10_000;

const readers = new WeakMap<FuelTable, (seen: Seen) => number | undefined>();

/**
 * Level of a tank as observed: as the device's table of that tank makes it of a raw value, else as the tracker tells it
 * in that unit.
 */
export function fuelOf(seen: Seen, tank: 1 | 2, unit: FuelUnit): number | undefined {
  const table = seen.device.fuelTables?.[tank - 1];
  if (table !== undefined) {
    const raw = readerOf(table)(seen);
    if (raw === undefined) return undefined;
    const litres = litresAt(table, raw);
    return unit === "litres" ? litres : (litres / table.full) * 100;
  }
  const readings = seen.observation?.readings;
  if (unit === "litres") return tank === 1 ? readings?.fuelVolume : readings?.fuelVolume2;
  return tank === 1 ? readings?.fuel : readings?.fuel2;
}

function readerOf(table: FuelTable): (seen: Seen) => number | undefined {
  const known = readers.get(table);
  if (known !== undefined) return known;
  const made = numberReaderOf(table.reading);
  readers.set(table, made);
  return made;
}

/** A figure in percent or in litres, one of which is given. */
export interface FuelAmount {
  readonly unit: FuelUnit;
  readonly amount: number;
}

/** The one of two that is given. */
export function amountOf(percent: number | undefined, litres: number | undefined): FuelAmount {
  return litres === undefined ? { unit: "percent", amount: percent ?? 0 } : { unit: "litres", amount: litres };
}

/** Problems of a figure that is given in percent or in litres. */
export function checkAmount(
  name: string,
  percent: number | undefined,
  litres: number | undefined,
  least: number,
): readonly string[] {
  if ((percent === undefined) === (litres === undefined)) return [`must have either ${name} or litres`];
  return percent === undefined
    ? within("litres", litres ?? 0, least, mostLitres, "l")
    : within(name, percent, least, 100, "%");
}

/** What a rule on fuel needs in readings, as a sentence. */
export function fuelNeeds(tank: 1 | 2, { unit }: FuelAmount): string {
  const which = tank === 1 ? "" : "2";
  const reading = unit === "percent" ? `fuel${which} (%)` : `fuelVolume${which} (litres)`;
  return `it needs the reading ${reading}, or the device's tag fuelTable${which}, which turns a raw value into litres`;
}
