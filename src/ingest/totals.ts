import { distanceKm } from "../geo/distance.ts";
import type { Totals } from "../model/location.ts";

/** No vehicle that carries a tracker is faster; a longer leg is a wrong fix and adds nothing to the mileage. */
const fastestKmh = 400;
/** Two fixes of the same second may differ by what GPS itself is off. */
const jitterKm = 0.1;
/** Below it a fix's speed is the noise of a parked receiver. */
const movingKmh = 3;
/** A fix without a speed of its own counts as moved beyond this distance from the fix before. */
const movedKm = 0.05;

/** What a record contributes to the totals of its device. */
export interface Step {
  readonly time: number;
  /** It has a valid position of its own. */
  readonly positioned: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  /** Inputs 1 to 4 that it reported: bit n-1 of `inputsReported`, and their states. */
  readonly inputsReported: number;
  readonly inputsActive: number;
}

/** Totals of a device without any record. */
export const noTotals: Totals = Object.freeze({
  odometer: 0,
  sensorSeconds: [0, 0, 0, 0] as const,
  movedAt: 0,
  inputsKnown: 0,
  inputsActive: 0,
});

/**
 * Totals after a record, from those after the record before it in event time (`beforeTime` undefined: it is the first).
 * Folding a device's records in the order of (time, hash) gives its totals; nothing else does.
 */
export function advance(before: Totals, beforeTime: number | undefined, step: Step): Totals {
  const leg = step.positioned && before.anchor !== undefined ? legKm(before.anchor, step) : 0;
  const moved = step.positioned && (step.speed === undefined ? leg > movedKm : step.speed > movingKmh);
  return {
    odometer: before.odometer + leg,
    sensorSeconds: beforeTime === undefined ? before.sensorSeconds : activeSeconds(before, step.time - beforeTime),
    movedAt: beforeTime === undefined || moved ? step.time : before.movedAt,
    inputsKnown: before.inputsKnown | step.inputsReported,
    inputsActive: (before.inputsActive & ~step.inputsReported) | (step.inputsActive & step.inputsReported),
    ...(step.positioned
      ? { anchor: { time: step.time, latitude: step.latitude, longitude: step.longitude } }
      : before.anchor && { anchor: before.anchor }),
  };
}

function legKm(anchor: { time: number; latitude: number; longitude: number }, step: Step): number {
  const km = distanceKm(anchor.latitude, anchor.longitude, step.latitude, step.longitude);
  const hours = (step.time - anchor.time) / 3_600_000;
  return km <= jitterKm + fastestKmh * hours ? km : 0;
}

function activeSeconds(before: Totals, elapsedMs: number): Totals["sensorSeconds"] {
  const active = before.inputsActive;
  if (active === 0 || elapsedMs <= 0) return before.sensorSeconds;
  const [first, second, third, fourth] = before.sensorSeconds;
  const seconds = elapsedMs / 1000;
  return [
    first + (active & 1 ? seconds : 0),
    second + (active & 2 ? seconds : 0),
    third + (active & 4 ? seconds : 0),
    fourth + (active & 8 ? seconds : 0),
  ];
}

/** Whether two totals differ by nothing but the sums, so that everything after them differs by the same sums too. */
export function differOnlyInSums(one: Totals, other: Totals): boolean {
  return (
    one.movedAt === other.movedAt &&
    one.inputsKnown === other.inputsKnown &&
    one.inputsActive === other.inputsActive &&
    one.anchor?.time === other.anchor?.time &&
    one.anchor?.latitude === other.anchor?.latitude &&
    one.anchor?.longitude === other.anchor?.longitude
  );
}
