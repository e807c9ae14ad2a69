import type { User } from "../model/account.ts";

/** The user of a request, and its counters with this request in them. */
export interface Caller {
  readonly user: User;
  readonly apiUsage: number;
  readonly apiDailyUsage: number;
}
