import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import { RateLimit, type Shared } from "../shares/rate-limit.ts";

/** Users whose resends are counted: some 100 bytes each. */
const countedUsers = 10_000;

/**
 * Counts what each user sends again by hand. Returns a function that throws the ApiError `tooManyRequests` beyond
 * `perMinute`.
 */
export function createResendCount(
  { bus, clock }: Pick<Shared, "bus" | "clock">,
  perMinute: number,
): (user: User) => void {
  const limit = new RateLimit("resend", perMinute, countedUsers, undefined, { bus, clock, as: "resend" });
  return ({ key }) => {
    const { allowed, resetSeconds } = limit.take(String(key), clock.monotonic());
    if (allowed) return;
    throw new ApiError("tooManyRequests", [`${perMinute} notifications may be sent again in a minute`], resetSeconds);
  };
}
