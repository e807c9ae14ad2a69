import { setImmediate, setTimeout } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import { Turns } from "../shares/turns.ts";

/** Bytes from which a body is large: read, checked and taken over within some milliseconds, in which nothing else is done. */
const largeBytes = 65_536;
/** Bytes that are received in a millisecond of the thread, which a body costs beside its reading: one that is refused at its first letters costs little else. */
const receivedInMs = 131_072;
/** Longest pause after a large body, ms. */
const longestPauseMs = 50;

/**
 * Lets large bodies be read one at a time, those of the accounts in turn, with a pause after each as long as receiving and reading took: however many come, half of the thread's
 * time is for the others. Small ones are read at once. `read` never fails.
 */
export function largeTurns(clock: Clock): (account: number, bytes: number, read: () => void) => void {
  // How many may wait is bounded by the requests under way.
  const turns = new Turns({ waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY });

  async function alone(bytes: number, read: () => void): Promise<void> {
    await setImmediate();
    const began = clock.monotonic();
    read();
    await setTimeout(Math.min(longestPauseMs, clock.monotonic() - began + bytes / receivedInMs));
  }

  return (account, bytes, read) => {
    if (bytes < largeBytes) read();
    else void turns.take(account, () => alone(bytes, read));
  };
}
