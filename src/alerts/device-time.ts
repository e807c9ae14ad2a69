import type { Standing } from "../model/standing.ts";

/**
 * The device's own time at a moment of ours: its last report's, and what has passed since that came. So a backlog that
 * is still coming in is not taken for hours of silence, and a tracker's slow clock harms nothing. 0: it never reported.
 */
export function deviceTime({ time, receivedAt }: Standing, now: number): number {
  return receivedAt === undefined ? time : time + Math.max(0, now - receivedAt);
}

/** The moment, by our clock, at which the device's own time reaches `moment`. */
export function momentOf({ time, receivedAt }: Standing, moment: number): number {
  return receivedAt === undefined ? moment : receivedAt + (moment - time);
}
