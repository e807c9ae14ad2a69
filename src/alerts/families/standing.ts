import type { Totals } from "../../model/location.ts";
import type { Seen } from "../judge.ts";

/** Up to this speed a first fix is that of a parked receiver, km/h. */
const standingKmh = 3;

/**
 * Whether the present report shows that the device stands; undefined: it shows neither. Silence, and reports without a
 * credible position, show nothing: a vehicle that was last seen driving may be driving still. The ignition being off
 * does.
 */
export function showsStanding({ observation, placed, totals, previousTime }: Seen): boolean | undefined {
  if (observation === undefined) return undefined;
  if (!placed) return observation.readings.ignition === false ? true : undefined;
  if (totals.movedAt < observation.time) return true;
  // The first fix of all counts as a movement in the sums.
  return previousTime === 0 && observation.speed !== undefined && observation.speed <= standingKmh;
}

/** Whether the last credible position was one of a device that moved. */
export function wasMoving({ movedAt, anchor }: Totals): boolean {
  return anchor === undefined || movedAt >= anchor.time;
}
