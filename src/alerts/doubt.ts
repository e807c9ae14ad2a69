import { distanceKm } from "../geo/distance.ts";
import type { Anchor } from "../model/location.ts";
import type { Observation } from "../ports/alert-engine.ts";
import type { Seen } from "./judge.ts";

/** No vehicle that carries a tracker is faster, km/h: the mileage has the same limit. */
const fastestKmh = 400;
/** Over this time nobody keeps up such a speed, ms: a leg that is longer in time must not be faster than the second figure, unless the report itself says so. */
const longLegMs = 120_000;
const fastestLongKmh = 250;
/** Positions of the same moment may be apart by what GPS is off between houses, km; and clocks round to the second. */
const jitterKm = 0.3;
const roundingMs = 2000;
/** A position that may be so far off, m, says of no zone whether it is inside. */
const vagueM = 1000;
/** Degrees within which a position needs no closer look: less than 300 m. */
const nearDegrees = 0.001;

/**
 * The last position that was judged, while one after it was not believed: its time, latitude and longitude; empty: none was judged yet. Kept only as long as that lasts.
 */
export type Doubt = readonly number[];

const nowhere: Doubt = Object.freeze([]);

/**
 * Whether the present position is judged: `seen.placed` says so. One that no vehicle can have reached, or that is vague, is not; the next report confirms it, where it
 * lies within reach of it, or goes on from the last position that was judged. Answers what is to be remembered.
 */
export function doubtAfter(doubt: Doubt | undefined, seen: Seen): Doubt | undefined {
  const { observation, previous } = seen;
  seen.placed = false;
  if (observation === undefined || !observation.positioned) return doubt;
  const { anchor } = previous;
  if (isVague(observation)) return doubt ?? placeOf(anchor);
  const isNear = anchor === undefined ? doubt === undefined : isReached(anchor, observation);
  if (doubt === undefined) {
    seen.placed = isNear;
    if (isNear) seen.zones.comeFrom(anchor);
    return isNear ? undefined : placeOf(anchor);
  }
  const judged = anchorOf(doubt);
  if (!isNear && (judged === undefined ? anchor !== undefined : !isReached(judged, observation))) return doubt;
  seen.placed = true;
  seen.zones.comeFrom(judged);
  return undefined;
}

function placeOf(anchor: Anchor | undefined): Doubt {
  return anchor === undefined ? nowhere : [anchor.time, anchor.latitude, anchor.longitude];
}

function anchorOf([time, latitude, longitude]: Doubt): Anchor | undefined {
  if (time === undefined || latitude === undefined || longitude === undefined) return undefined;
  return { time, latitude, longitude };
}

function isVague({ readings }: Observation): boolean {
  return readings.accuracy !== undefined && readings.accuracy > vagueM;
}

/** Whether a vehicle can have come from there. */
function isReached(from: Anchor, { time, latitude, longitude, speed = 0 }: Observation): boolean {
  if (Math.abs(latitude - from.latitude) < nearDegrees && Math.abs(longitude - from.longitude) < nearDegrees)
    return true;
  const elapsed = Math.abs(time - from.time) + roundingMs;
  const fastest = Math.max(elapsed > longLegMs ? fastestLongKmh : fastestKmh, 2 * speed);
  const reach = jitterKm + (fastest * elapsed) / 3_600_000;
  return distanceKm(from.latitude, from.longitude, latitude, longitude) <= reach;
}
