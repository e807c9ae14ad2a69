import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { RateLimit } from "../shares/rate-limit.ts";
import { matchesApiKey } from "./api-key.ts";

/**
 * Asks a user for the present API key or password before something changes that would outlast a stolen token.
 * @throws ApiError `permissionDenied`: none was given, or a wrong one · `tooManyRequests`: too many wrong ones in a
 * minute
 */
export type CheckPresent = (user: User, secret: string | null | undefined) => Promise<void>;

/** What the check needs of the service. */
export interface PresentContext {
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  /** Whether a password is the one with this hash (src/auth/passwords.ts). */
  readonly matchesPassword: (password: string, hash: string, accountKey: number) => Promise<boolean>;
}

/**
 * Wrong answers of a user in a minute. The right API key is never limited: whoever has only the token can't keep out
 * who has the key.
 */
const mostWrong = 10;
const windowMs = 60_000;
/** Users whose wrong answers are counted. */
const countedUsers = 10_000;

/** The check over the user's stored hashes. */
export function createPresent({ bus, clock, matchesPassword }: PresentContext): CheckPresent {
  const wrong = new RateLimit("present", mostWrong, countedUsers, windowMs, { bus, clock, as: "present" });

  /** Counts before the answer is known, so that many at once are counted as well. */
  function count(userKey: number): void {
    const { allowed, resetSeconds } = wrong.take(String(userKey), clock.monotonic());
    if (!allowed) throw new ApiError("tooManyRequests", ["body/presentSecret: was wrong too often"], resetSeconds);
  }

  return async (user, secret) => {
    if (secret === null || secret === undefined || secret === "")
      throw new ApiError("permissionDenied", ["body/presentSecret: must be the caller's present API key or password"]);
    if (matchesApiKey(secret, user.apiKeyHash)) return;
    count(user.key);
    if (user.passwordHash !== null && (await matchesPassword(secret, user.passwordHash, user.accountKey))) {
      wrong.clear(String(user.key));
      return;
    }
    throw new ApiError("permissionDenied", [
      "body/presentSecret: is neither the caller's present API key nor its password",
    ]);
  };
}
