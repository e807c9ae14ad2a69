import type { Anchor } from "../model/location.ts";
import { distanceKm } from "./distance.ts";

/** No vehicle that carries a tracker is faster, km/h. */
const fastestKmh = 400;
/**
 * Over this time nobody keeps up such a speed, ms: a longer leg must not be faster than the second figure, unless the
 * report itself says so.
 */
const longLegMs = 120_000;
const fastestLongKmh = 250;
/** Positions of the same moment may be apart by what GPS is off between houses, km; and clocks round to the second. */
const jitterKm = 0.3;
const roundingMs = 2000;
/** No degree is longer, km. */
const degreeKm = 111.2;
/** A position that may be so far off, m, says nothing of where the device is. */
const vagueM = 1000;

/** A fix, as far as it is asked whether its position can be true. */
export interface Claim extends Anchor {
  /** It came with a position that the tracker itself does not mark as not valid. */
  readonly positioned: boolean;
  /** km/h */
  readonly speed: number | undefined;
  /** By its own accuracy, it says nothing of where the device is: see `isVague`. */
  readonly vague: boolean;
}

/** The positions before a fix. */
export interface Trail {
  /** The last credible one. */
  readonly anchor?: Anchor;
  /** The last one, where it was out of reach of the last credible one. */
  readonly doubted?: Anchor;
}

/**
 * What a fix's position is, after those before it. `unusable`: it is none, and says nothing of the position before
 * either · `doubted`: out of reach, the next fix decides · the others are credible: `first` of all, `reached` from the
 * last credible one, or `confirming`: it goes on from the doubted one, which was credible after all.
 */
export type Credibility = "unusable" | "doubted" | "first" | "reached" | "confirming";

/** Whether a position of that accuracy, m, says nothing of where the device is. */
export function isVague(accuracy: number | undefined): boolean {
  return accuracy !== undefined && accuracy > vagueM;
}

/** The only answer to whether a position can be true: mileage, zones, speed and the last location go by it. */
export function credibilityOf({ anchor, doubted }: Trail, claim: Claim): Credibility {
  if (!claim.positioned || claim.vague || isNowhere(claim)) return "unusable";
  if (anchor === undefined) return "first";
  if (doubted === undefined || !reaches(doubted, claim)) return reaches(anchor, claim) ? "reached" : "doubted";
  // Between two ways that are possible, the shorter one: so a single wrong fix is left out, and a device that was
  // carried off stays where it came to.
  return reaches(anchor, claim) && wayTo(anchor, claim) <= wayTo(doubted, claim) ? "reached" : "confirming";
}

/** Trackers without a fix report 0° north, 0° east. */
function isNowhere({ latitude, longitude }: Claim): boolean {
  return latitude === 0 && longitude === 0;
}

/** Whether a vehicle can have come from there. */
function reaches(from: Anchor, claim: Claim): boolean {
  const { time, latitude, longitude, speed = 0 } = claim;
  const elapsed = Math.abs(time - from.time) + roundingMs;
  const fastest = Math.max(elapsed > longLegMs ? fastestLongKmh : fastestKmh, 2 * speed);
  const reach = jitterKm + (fastest * elapsed) / 3_600_000;
  // Mostly this rough bound is enough, which costs no trigonometry.
  const most = degreeKm * (Math.abs(latitude - from.latitude) + Math.abs(longitude - from.longitude));
  return most <= reach || wayTo(from, claim) <= reach;
}

/** km */
function wayTo(from: Anchor, { latitude, longitude }: Claim): number {
  return distanceKm(from.latitude, from.longitude, latitude, longitude);
}
