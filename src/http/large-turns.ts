import { setImmediate, setTimeout } from "node:timers/promises";
import type { Steps } from "../model/steps.ts";
import type { Clock } from "../ports/clock.ts";
import { Turns } from "../shares/turns.ts";

/**
 * Bytes from which a body is large: to read, check and take over a smaller one takes a millisecond or two, in which
 * nothing else is done.
 */
const largeBytes = 65_536;
/**
 * Bytes that are received in a millisecond of the thread, which a body costs beside its reading: one that is refused at
 * its first letters costs little else.
 */
const receivedInMs = 131_072;
/** Longest pause after a large body, ms. */
const longestPauseMs = 50;

/** Does work of an account on a body of so many bytes: `goOn` does one step of it. */
export type LargeTurns = (account: number, bytes: number, goOn: () => boolean) => void;

/**
 * Lets large bodies be read one at a time, those of the accounts in turn, in steps between which others are served,
 * with a pause after each body as long as receiving and reading it took: however many come, half of the thread's time
 * is for the others. Small ones are read at once. `goOn` does one step and says whether there are more; it never fails.
 */
export function largeTurns(clock: Clock): LargeTurns {
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

/**
 * Work on what a body holds: at once where it ends with its first step, else it takes its turn with the large bodies.
 */
export function inLargeTurn(turns: LargeTurns): <T>(account: number, steps: Steps<T>) => Promise<T> {
  return <T>(account: number, steps: Steps<T>) =>
    new Promise<T>((resolve, reject) => {
      const goOn = () => {
        try {
          const step = steps.next();
          if (step.done !== true) return true;
          resolve(step.value);
        } catch (error) {
          reject(error);
        }
        return false;
      };
      if (goOn()) turns(account, largeBytes, goOn);
    });
}
