import { distanceKm } from "../geo/distance.ts";
import type { Anchor, Totals } from "../model/location.ts";

/** No vehicle that carries a tracker is faster; a longer leg is a wrong fix and adds nothing to the mileage. */
const fastestKmh = 400;
/** Two fixes of the same second may differ by what GPS itself is off. */
const jitterKm = 0.1;
/** Below it a fix's speed is the noise of a parked receiver. */
const movingKmh = 3;
/** A fix without a speed of its own moved where its leg is that fast and longer than what GPS itself is off, or that long however slow. */
const noiseKm = 0.02;
const movedKm = 0.05;
/** Millimetres in a kilometre. */
const mm = 1_000_000;

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

/**
 * Totals after a record, from those after the record before it in event time (`beforeTime` undefined: it is the first).
 * Folding a device's records in the order of (time, hash) gives its totals; nothing else does.
 */
export function advance(before: Totals, beforeTime: number | undefined, step: Step): Totals {
  const leg = step.positioned && before.anchor !== undefined ? legKm(before.anchor, step) : 0;
  const moved =
    step.positioned && (step.speed === undefined ? legMoved(leg, before.anchor, step) : step.speed > movingKmh);
  const odometerMm = before.odometerMm + Math.round(leg * mm);
  const sensorMs = beforeTime === undefined ? before.sensorMs : activeMs(before, step.time - beforeTime);
  const movedAt = beforeTime === undefined || moved ? step.time : before.movedAt;
  const inputsKnown = before.inputsKnown | step.inputsReported;
  const inputsActive = (before.inputsActive & ~step.inputsReported) | (step.inputsActive & step.inputsReported);
  const anchor = step.positioned
    ? { time: step.time, latitude: step.latitude, longitude: step.longitude }
    : before.anchor;
  if (anchor === undefined) return { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive };
  return { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive, anchor };
}

function legMoved(km: number, anchor: Anchor | undefined, step: Step): boolean {
  if (anchor === undefined) return false;
  return km > movedKm || (km > noiseKm && km > (movingKmh * (step.time - anchor.time)) / 3_600_000);
}

function legKm(anchor: Anchor, step: Step): number {
  const km = distanceKm(anchor.latitude, anchor.longitude, step.latitude, step.longitude);
  const hours = (step.time - anchor.time) / 3_600_000;
  return km <= jitterKm + fastestKmh * hours ? km : 0;
}

function activeMs(before: Totals, elapsedMs: number): Totals["sensorMs"] {
  const active = before.inputsActive;
  if (active === 0 || elapsedMs <= 0) return before.sensorMs;
  const [first, second, third, fourth] = before.sensorMs;
  return [
    first + (active & 1 ? elapsedMs : 0),
    second + (active & 2 ? elapsedMs : 0),
    third + (active & 4 ? elapsedMs : 0),
    fourth + (active & 8 ? elapsedMs : 0),
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
