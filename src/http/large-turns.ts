import { setImmediate, setTimeout } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import { Turns } from "../shares/turns.ts";

/** Bytes from which a body is large: to read, check and take over a smaller one takes a millisecond or two, in which nothing else is done. */
const largeBytes = 65_536;
/** Bytes that are received in a millisecond of the thread, which a body costs beside its reading: one that is refused at its first letters costs little else. */
const receivedInMs = 131_072;
/** Longest pause after a large body, ms. */
const longestPauseMs = 50;

/**
 * Lets large bodies be read one at a time, those of the accounts in turn, in steps between which others are served, with a pause after each body as long as receiving and
 * reading it took: however many come, half of the thread's time is for the others. Small ones are read at once. `goOn` does one step and says whether there are more; it never fails.
 */
export function largeTurns(clock: Clock): (account: number, bytes: number, goOn: () => boolean) => void {
  // How many may wait is bounded by the requests under way.
  const turns = new Turns({ waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY });

  async function alone(bytes: number, goOn: () => boolean): Promise<void> {
    let tookMs = bytes / receivedInMs;
    for (let goesOn = true; goesOn; ) {
      await setImmediate();
      const began = clock.monotonic();
      goesOn = goOn();
      tookMs += clock.monotonic() - began;
    }
    await setTimeout(Math.min(longestPauseMs, tookMs));
  }

  return (account, bytes, goOn) => {
    if (bytes >= largeBytes) void turns.take(account, () => alone(bytes, goOn));
    else while (goOn());
  };
}
