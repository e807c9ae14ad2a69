import type { Quantity } from "../words/units.ts";
import type { Fix } from "./track.ts";

/** A chart over the time of the fixes. */
export interface Chart {
  readonly name: string;
  readonly quantity?: Quantity;
  /** One a fix; null: not reported. */
  readonly values: readonly (number | null)[];
  /** On or off: the line has steps. */
  readonly steps: boolean;
}

const measured = [
  ["speed", "speed"],
  ["fuel", "percent"],
  ["fuel2", "percent"],
  ["temperature", "temperature"],
  ["temperature2", "temperature"],
  ["battery", "percent"],
  ["rpm", "rotation"],
] as const;
const inputs = [0, 1, 2, 3] as const;

/** The charts of what was reported: speed, fuel, temperature, battery, engine speed, ignition, inputs. */
export function chartsOf(fixes: readonly Fix[]): readonly Chart[] {
  const charts: readonly Chart[] = [
    ...measured.map(([name, quantity]) => ({
      name,
      quantity,
      values: fixes.map(({ location }) => location[name] ?? null),
      steps: false,
    })),
    { name: "ignition", values: fixes.map(({ location }) => flag(location.attributes.ignition)), steps: true },
    ...inputs.map((input) => ({
      name: `input${input + 1}`,
      values: fixes.map(({ location }) => flag(location.inputs?.[input])),
      steps: true,
    })),
  ];
  return charts.filter(({ values }) => values.some((value) => value !== null));
}

function flag(value: string | boolean | undefined): number | null {
  return value === undefined ? null : Number(String(value) === "true");
}
