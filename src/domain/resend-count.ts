import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Clock } from "../ports/clock.ts";
import { RecentMap } from "../shares/recent-map.ts";

/** Users whose resends are counted: some 100 bytes each. */
const countedUsers = 10_000;
const minuteMs = 60_000;

/** Counts what each user sends again by hand. Returns a function that throws the ApiError `tooManyRequests` beyond `perMinute`. */
export function createResendCount(clock: Clock, perMinute: number): (user: User) => void {
  const minutes = new RecentMap<number, { readonly ends: number; count: number }>(countedUsers);
  return ({ key }) => {
    const now = clock.monotonic();
    let minute = minutes.get(key);
    if (minute === undefined || now >= minute.ends) minute = { ends: now + minuteMs, count: 0 };
    minutes.set(key, minute);
    if (minute.count >= perMinute) {
      const details = [`${perMinute} notifications may be sent again in a minute`];
      throw new ApiError("tooManyRequests", details, Math.ceil((minute.ends - now) / 1000));
    }
    minute.count++;
  };
}
