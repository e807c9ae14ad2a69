import type { Ids } from "../ports/ids.ts";

/**
 * Pauses after the first try, the second ..., ms; who still has no answer after the last one has none after nine hours.
 */
const pauses = [10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000] as const;

/** Tries of a notice, the first one included. */
export const mostTries = pauses.length + 1;

/** The longest that a peer is believed when it says how long to wait, ms. */
export const mostRetryAfterMs = 3_600_000;

/** How far a pause is from its length at most, as a share of it: what failed together does not come back together. */
const jitter = 0.2;

/** Time until the next try, ms; undefined: that was the last one. `asked`: how long the peer wants to be left alone. */
export function pauseAfter(tries: number, asked: number, ids: Ids): number | undefined {
  const pause = pauses[tries - 1];
  return pause === undefined ? undefined : Math.max(spread(pause, ids), Math.min(asked, mostRetryAfterMs));
}

/** A time that is a little shorter or longer, ms. */
export function spread(ms: number, ids: Ids): number {
  const chance = Buffer.from(ids.secret(4), "base64url").readUInt32BE() / 2 ** 32;
  return Math.round(ms * (1 - jitter + 2 * jitter * chance));
}
