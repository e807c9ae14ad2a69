import type { LocationRecord } from "../model/location.ts";
import type { Step } from "./totals.ts";

/** What the fold reads in the extras of a record. */
export type ExtrasFacts = Pick<Step, "ignitionOff" | "inputsReported" | "inputsActive">;

/** What the fold needs of a record's extras. They hold inputs and ignition as literal JSON: see `extrasOf`. */
export function factsOf(extras: string): ExtrasFacts {
  const inputs = /"inputs":\[([a-z,]*)\]/.exec(extras)?.[1]?.split(",").slice(0, 4) ?? [];
  let active = 0;
  inputs.forEach((state, index) => {
    if (state === "true") active |= 1 << index;
  });
  return {
    ignitionOff: extras.includes('"ignition":"false"'),
    inputsReported: (1 << inputs.length) - 1,
    inputsActive: active,
  };
}

/** Whether a record came with a valid position of its own. */
export function isPositioned({ valid, positionTime }: Pick<LocationRecord, "valid" | "positionTime">): boolean {
  return valid && positionTime === undefined;
}

/** A stored record as a step of the fold again. */
export function stepOf(record: LocationRecord): Step {
  const { time, latitude, longitude, speed, extras } = record;
  return { time, positioned: isPositioned(record), latitude, longitude, speed, ...factsOf(extras) };
}
