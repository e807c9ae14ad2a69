import type { Clock } from "../ports/clock.ts";

/** The machine's clock. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
});
