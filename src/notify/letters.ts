import type { Letter } from "../model/letter.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { Mailer } from "../ports/mailer.ts";
import { RateLimit } from "../shares/rate-limit.ts";
import { letterOf } from "../wording/index.ts";
import { pauseAfter } from "./tries.ts";

/** What letters need of the service. */
export interface LettersContext {
  /** Undefined: no mail server is configured, and nobody is told. */
  readonly mailer: Mailer | undefined;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** Letters that are sent, with the way to end it. */
export interface PostOffice extends Letters {
  /** Begins nothing more. */
  stop(): Promise<void>;
}

/** Letters that wait in memory: some 1 KB each. They come by hand, so more would be somebody's loop. */
const mostWaiting = 1000;
/** Tries of a letter: after the fourth, six minutes later, it is given up. The log has it. */
const mostTries = 4;
/**
 * Letters to one address in an hour, and for one account in a day: an account can name any address as a user's, and is
 * no way of mailing strangers.
 */
const mostToAddress = 5;
const mostOfAccount = 200;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Addresses and accounts that are counted; the one that began first makes room. */
const mostCounted = 10_000;

/** Sends letters by the mail server, each by itself, from memory: those that wait when the service ends are lost. */
export function createLetters({ mailer, bus, clock, ids, log }: LettersContext): PostOffice {
  const limit = (most: number, ms: number, as: string) =>
    new RateLimit("letters", most, mostCounted, ms, { bus, clock, as: `letters ${as}` });
  const toAddress = limit(mostToAddress, hourMs, "to");
  const ofAccount = limit(mostOfAccount, dayMs, "of");
  const timers = new Set<NodeJS.Timeout>();
  const sending = new Set<Promise<void>>();
  let waiting = 0;
  let stopped = false;

  function begin(letter: Letter, id: string, tries: number): void {
    const attempt = one(letter, id, tries).finally(() => sending.delete(attempt));
    sending.add(attempt);
  }

  async function one(letter: Letter, id: string, tries: number): Promise<void> {
    const { kind } = letter;
    const result = await mailer?.send({ id, to: letter.to, ...letterOf(letter) });
    if (result === undefined || result.outcome === "accepted") return end();
    const pause = result.outcome === "refused" || tries >= mostTries ? undefined : pauseAfter(tries, 0, ids);
    if (pause === undefined || stopped) {
      log.warn({ kind, reason: result.reason }, "a user can't be told of a change of its way in");
      return end();
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      begin(letter, id, tries + 1);
    }, pause).unref();
    timers.add(timer);
  }

  function end(): void {
    waiting--;
  }

  return {
    send(letter) {
      const { kind, accountKey, to } = letter;
      if (mailer === undefined || stopped) return;
      const now = clock.monotonic();
      if (
        waiting >= mostWaiting ||
        !ofAccount.take(String(accountKey), now).allowed ||
        !toAddress.take(to.toLowerCase(), now).allowed
      ) {
        log.warn(
          { kind, account: accountKey },
          "a user is not told of a change of its way in: there are too many letters",
        );
        return;
      }
      waiting++;
      begin(letter, ids.uuid(), 1);
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(sending);
    },
  };
}
