import { setTimeout as pause } from "node:timers/promises";

/**
 * Attempts in all. In a deadlock the server aborts one transaction, and the others go on before that one is tried
 * again.
 */
const mostTries = 6;
/** Pause before the second attempt, ms. It doubles each time; all pauses together are a third of a second. */
const firstPauseMs = 10;

/** Tries `work` again when it failed in a way that another attempt may mend. */
export async function again<T>(work: () => Promise<T>, isWorthIt: (error: unknown) => boolean): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries === mostTries || !isWorthIt(error)) throw error;
      await pause(firstPauseMs * 2 ** (tries - 1));
    }
}
