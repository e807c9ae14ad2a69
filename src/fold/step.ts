import { isVague } from "../geo/credible.ts";
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

/**
 * Whether the accuracy in a record's extras is too bad: see `isVague`. A decoder's own attribute of that name is a
 * renamed one.
 */
export function isVagueIn(extras: string): boolean {
  const accuracy = /"accuracy":"([^"]*)"/.exec(extras)?.[1];
  return accuracy !== undefined && isVague(Number(accuracy));
}

/** What of a stored record the fold needs. */
export type Folded = Pick<
  LocationRecord,
  "time" | "valid" | "latitude" | "longitude" | "speed" | "extras" | "positionTime"
>;

/** A record as a step of the fold: a stored one is parsed again. */
export function stepOf(record: Folded | Step): Step {
  if ("inputsReported" in record) return record;
  const { time, latitude, longitude, speed, extras } = record;
  const claim = { time, positioned: isPositioned(record), vague: isVagueIn(extras), latitude, longitude, speed };
  return { ...claim, ...factsOf(extras) };
}
