import { distanceKm } from "../geo/distance.ts";
import type { Anchor, Totals, Uncounted } from "../model/location.ts";

/**
 * Nobody knows the way of a device that was silent for so long: one of the two clocks was not set, or it was carried in
 * a box.
 */
const longestGapMs = 366 * 86_400_000;
/**
 * A tracker that has lost the time begins at its maker's date (2000, 2001, 2004); nothing older than this was reported
 * by a clock that is right.
 */
const clockSetFrom = Date.UTC(2006, 0, 1);

/** Below it a fix's speed is the noise of a parked receiver. */
export const movingKmh = 3;
/** Above it a vehicle is driving: whatever it does, each leg counts. */
const drivingKmh = 10;
/** What a leg must be longer than to count, km: a parked receiver wanders so far, by what is known of the device. */
const limits = {
  /** The tracker itself says that it stands. */
  standing: 0.05,
  /** Nothing is known. */
  unknown: 0.02,
  /** The fix says that it moves. */
  moving: 0.01,
  /** The mileage grew a moment ago. */
  underway: 0.01,
};
/**
 * A way along many fixes that is longer than its chord by more than a right angle makes it is noise: then the chord
 * counts, once it is long beside the noise.
 */
const mostDetour = 1.42;
const longChord = 0.02;
/**
 * Legs are measured anew from the first fix of each such part of the day, ms. So a late fix changes what is counted up
 * to there and nothing behind it. A device that moves less than 20 m in it is parked.
 */
const partMs = 120_000;
const mmPerKm = 1_000_000;
/** So far a device has moved however long it took, mm. */
const farMm = 50_000;

/** What of a record the mileage is made of. */
export interface FixStep {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
  /** km/h */
  readonly speed: number | undefined;
  readonly ignitionOff: boolean;
}

/** How the mileage goes on from a fix. */
export type Way = Pick<Totals, "uncounted" | "underway">;

/** What a fix adds to the mileage, and what the next fix goes on from. */
export interface Advance {
  readonly countedMm: number;
  /** By its legs; a fix that reports its speed is judged by that. */
  readonly moved: boolean;
  readonly uncounted: Uncounted | undefined;
  readonly underway: boolean;
}

/** Whether a record's time is that of a clock that was not set. */
export function clockUnset(time: number): boolean {
  return time < clockSetFrom;
}

/** What a fix without one before it adds. */
export const noLeg: Advance = Object.freeze({ countedMm: 0, moved: false, uncounted: undefined, underway: false });

/** What a credible fix adds to the mileage after the one at `anchor`, which a vehicle can have come from. */
export function advanceMileage(before: Way, anchor: Anchor, fix: FixStep): Advance {
  if (!isKnownTime(anchor.time, fix.time)) return noLeg;
  const leg = distanceKm(anchor.latitude, anchor.longitude, fix.latitude, fix.longitude);
  const underway = before.underway === true;
  const { uncounted } = before;
  const from = uncounted?.from ?? anchor;
  const chord = uncounted === undefined ? leg : distanceKm(from.latitude, from.longitude, fix.latitude, fix.longitude);
  const lengthMm = (uncounted?.lengthMm ?? 0) + millimetres(leg);
  const newPart = Math.floor(anchor.time / partMs) !== Math.floor(fix.time / partMs);
  const chordMm = millimetres(chord);
  const noisy = lengthMm > chordMm * mostDetour;
  const far = chord > limitKm(fix, underway) && (!noisy || chord > longChord);
  if (far || (newPart && underway)) {
    const countedMm = noisy ? chordMm : lengthMm;
    return { countedMm, moved: hasMoved(countedMm, fix.time - from.time), uncounted: undefined, underway: !newPart };
  }
  if (newPart || lengthMm === 0) return newPart || !underway ? noLeg : stillUnderway;
  return { countedMm: 0, moved: false, uncounted: { from, lengthMm }, underway };
}

const stillUnderway: Advance = Object.freeze({ ...noLeg, underway: true });

/** A way as whole millimetres. */
export function millimetres(km: number): number {
  return Math.round(km * mmPerKm);
}

function isKnownTime(from: number, to: number): boolean {
  return !clockUnset(from) && to - from <= longestGapMs;
}

function limitKm({ speed, ignitionOff }: FixStep, underway: boolean): number {
  if (ignitionOff || speed === 0) return underway ? limits.unknown : limits.standing;
  if (speed === undefined || speed <= movingKmh) return underway ? limits.underway : limits.unknown;
  return underway && speed > drivingKmh ? 0 : limits.moving;
}

/** A leg moved the device where it is faster than noise, or long however slow. */
function hasMoved(mm: number, ms: number): boolean {
  return mm > farMm || mm > (movingKmh * mmPerKm * ms) / 3_600_000;
}
