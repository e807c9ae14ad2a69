import { setTimeout as pause } from "node:timers/promises";

/** How often something is tried. The server ends one of those who wait for each other, so the others get on meanwhile. */
const mostTries = 6;
/** Pause before the second try, ms; it doubles. All together a third of a second. */
const firstPauseMs = 10;

/** Tries again what failed so that another try may do. */
export async function again<T>(work: () => Promise<T>, isWorthIt: (error: unknown) => boolean): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries === mostTries || !isWorthIt(error)) throw error;
      await pause(firstPauseMs * 2 ** (tries - 1));
    }
}
