import { type Claim, credibilityOf } from "../geo/credible.ts";
import type { Anchor, Totals, Uncounted } from "../model/location.ts";
import { advanceMileage, clockUnset, type FixStep, movingKmh, noLeg, type Way } from "./mileage.ts";

/** What a record contributes to the totals of its device. */
export interface Step extends FixStep, Claim {
  /** Inputs 1 to 4 that it reported: bit n-1 of `inputsReported`, and their states. */
  readonly inputsReported: number;
  readonly inputsActive: number;
}

/**
 * Totals after a record, from those after the record before it in event time (`beforeTime` undefined: it is the first).
 * Folding a device's records in the order of event time, then arrival, gives its totals; nothing else does.
 */
export function advance(before: Totals, beforeTime: number | undefined, step: Step): Totals {
  // What a clock that was not set reported lies at no known time before: since then no input was active, and nobody
  // stood still.
  const first = beforeTime === undefined || (clockUnset(beforeTime) && !clockUnset(step.time));
  const sensorMs = first ? before.sensorMs : activeMs(before, step.time - beforeTime);
  const inputsKnown = before.inputsKnown | step.inputsReported;
  const inputsActive = (before.inputsActive & ~step.inputsReported) | (step.inputsActive & step.inputsReported);
  const credibility = credibilityOf(before, step);
  if (credibility === "unusable" || credibility === "doubted") {
    const movedAt = first ? step.time : before.movedAt;
    const doubted = credibility === "doubted" ? placeOf(step) : before.doubted;
    return beside({ odometerMm: before.odometerMm, sensorMs, movedAt, inputsKnown, inputsActive }, before, doubted);
  }
  const isElsewhere = credibility === "confirming";
  const from = isElsewhere ? before.doubted : before.anchor;
  // Nobody knows the way to the doubted position, so that the mileage goes on there as if it began.
  const leg = from === undefined ? noLeg : advanceMileage(isElsewhere ? noWay : before, from, step);
  const odometerMm = before.odometerMm + leg.countedMm;
  const moved = step.speed === undefined ? leg.moved : step.speed > movingKmh;
  const movedAt = first || moved ? step.time : before.movedAt;
  const anchor = placeOf(step);
  const { uncounted } = leg;
  // Each kind as one literal: spreading costs as much as all the rest of the fold.
  if (uncounted === undefined)
    return leg.underway
      ? { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive, anchor, underway: true }
      : { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive, anchor };
  return leg.underway
    ? { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive, anchor, uncounted, underway: true }
    : { odometerMm, sensorMs, movedAt, inputsKnown, inputsActive, anchor, uncounted };
}

const noWay: Way = Object.freeze({});

function placeOf({ time, latitude, longitude }: Step): Anchor {
  return { time, latitude, longitude };
}

/**
 * Totals after a record without a credible position of its own: where the device is, and the way to there, stay as they
 * were.
 */
function beside(totals: Totals, { anchor, uncounted, underway }: Totals, doubted: Anchor | undefined): Totals {
  if (anchor === undefined) return totals;
  return {
    ...totals,
    anchor,
    ...(doubted && { doubted }),
    ...(uncounted && { uncounted }),
    ...(underway && { underway }),
  };
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
    samePlace(one.anchor, other.anchor) &&
    samePlace(one.doubted, other.doubted) &&
    one.underway === other.underway &&
    sameUncounted(one.uncounted, other.uncounted)
  );
}

function sameUncounted(one: Uncounted | undefined, other: Uncounted | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.lengthMm === other.lengthMm && samePlace(one.from, other.from);
}

function samePlace(one: Anchor | undefined, other: Anchor | undefined): boolean {
  return one?.time === other?.time && one?.latitude === other?.latitude && one?.longitude === other?.longitude;
}
