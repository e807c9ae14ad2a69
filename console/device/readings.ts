import type { Location } from "../live/events.ts";
import type { Quantity } from "../words/units.ts";

/** A reading with what it measures. */
export interface Reading {
  readonly name: string;
  readonly value: number | string | boolean;
  readonly quantity?: Quantity | "degrees" | "count";
}

const quantities = [
  ["speed", "speed"],
  ["course", "degrees"],
  ["milleage", "distance"],
  ["battery", "percent"],
  ["fuel", "percent"],
  ["fuel2", "percent"],
  ["temperature", "temperature"],
  ["temperature2", "temperature"],
  ["rpm", "rotation"],
  ["inactiveSeconds", "seconds"],
  ["sensorTime1", "seconds"],
  ["sensorTime2", "seconds"],
  ["sensorTime3", "seconds"],
  ["sensorTime4", "seconds"],
] as const satisfies readonly (readonly [keyof Location, NonNullable<Reading["quantity"]>])[];

/** Every reading of a location, in the order in which a person looks for them. What was not reported is left out. */
export function readingsOf(location: Location): readonly Reading[] {
  const measured = quantities.flatMap(([name, quantity]): Reading[] => {
    const value = location[name];
    return value === undefined ? [] : [{ name, value, quantity }];
  });
  const flags = (["inputs", "outputs"] as const).flatMap((kind) =>
    (location[kind] ?? []).map((value, index): Reading => ({ name: `${kind.slice(0, -1)}${index + 1}`, value })),
  );
  // The API answers attributes as texts.
  const others = Object.entries(location.attributes).map(
    ([name, value = ""]): Reading => ({ name, value: value === "true" || (value === "false" ? false : value) }),
  );
  const accessories = (location.accessoriesAttributes ?? []).map(
    ({ accessoryType, accessoryStatus }): Reading => ({ name: accessoryType, value: accessoryStatus ?? "" }),
  );
  return [...measured, ...flags, ...accessories, ...others];
}
