import type { User } from "../model/account.ts";
import type { LetterKind } from "../model/letter.ts";
import type { Clock } from "../ports/clock.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";

/**
 * Tells a user, at the address that it had, what became of its way in; `by` is who did it, null the service's operator.
 * The log has it too.
 */
export type Telling = (kind: LetterKind, before: User, after: User, by: User | null) => Promise<void>;

/** What telling needs of the service. */
export interface TellingContext {
  readonly store: Pick<Store, "accounts">;
  readonly clock: Clock;
  readonly letters: Letters;
  readonly log: Log;
}

/** Tells by letter. The change is done by then, so nothing that goes wrong here fails it. */
export function createTelling({ store, clock, letters, log }: TellingContext): Telling {
  return async (kind, before, after, by) => {
    log.info({ change: kind, user: after.id, by: by?.id ?? "operator" }, "a user's way in was changed");
    try {
      const account = await store.accounts.find(after.accountKey);
      letters.send({
        kind,
        to: before.email,
        accountKey: after.accountKey,
        language: account?.language ?? "en",
        timeZone: after.timeZone,
        at: clock.now(),
        by: by === null ? null : by.email,
        userName: after.email,
      });
    } catch (error) {
      log.warn({ error, user: after.id }, "a user can't be told of a change of its way in");
    }
  };
}
