import type { User } from "../model/account.ts";
import type { SignIn } from "../model/sign-in.ts";

/** The session of a person, who came by the cookie. */
export interface BrowserSession {
  readonly signIn: SignIn;
  /** What its pages send with each request that writes. */
  readonly csrf: string;
}

/** The user of a request, and its counters with this request in them. */
export interface Caller {
  readonly user: User;
  readonly apiUsage: number;
  readonly apiDailyUsage: number;
  /** Absent: it came by a token. */
  readonly session?: BrowserSession;
}
