import { inactivity } from "../auth/permission.ts";
import { csrfOf } from "../auth/session-token.ts";
import type { Session, Tokens } from "../auth/tokens.ts";
import type { Cache } from "../domain/cache.ts";
import type { SignIns } from "../domain/sign-ins.ts";
import type { TallyEntry } from "../domain/tally.ts";
import type { Usage } from "../domain/usage.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Clock } from "../ports/clock.ts";
import type { BrowserSession } from "./caller.ts";
import { type Cookies, sessionToken } from "./cookies.ts";

/** A user whose token or cookie is good, and its counters. */
export interface Known {
  readonly user: User;
  readonly entry: TallyEntry;
  /** Of who came by the cookie. */
  readonly session?: BrowserSession;
}

/** What a request shows of who makes it. */
interface Shown extends Cookies {
  readonly headers: { readonly authorization?: string | undefined; readonly cookie?: string | undefined };
}

/**
 * Who makes a request: by its token where it has an `Authorization` header, else by its cookie. Undefined: nobody, or
 * nobody any more (the user was deleted, the key replaced, the session ended). At once where all is in memory: the way
 * of nearly every request.
 */
export type Recognise = (request: Shown) => Known | undefined | Promise<Known | undefined>;

/** What recognising needs of the service. */
export interface RecognitionContext {
  readonly tokens: Tokens;
  readonly signIns: Pick<SignIns, "find">;
  readonly users: Cache<number, User>;
  readonly usage: Usage;
  readonly clock: Clock;
}

/** Recognises by what is in memory, and reads the rest. */
export function createRecognition({ tokens, signIns, users, usage, clock }: RecognitionContext): Recognise {
  function withEntry(user: User | undefined, session?: BrowserSession): Known | undefined | Promise<Known> {
    if (user === undefined) return undefined;
    const entry = usage.requests.entry(user.key, clock.now());
    const more = session && { session };
    return entry instanceof Promise ? entry.then((read) => ({ user, entry: read, ...more })) : { user, entry, ...more };
  }

  function byToken({ userKey, apiKeyId }: Session) {
    return then(users.get(userKey), (user) => (user?.apiKeyId === apiKeyId ? withEntry(user) : undefined));
  }

  function byCookie(token: string) {
    return then(signIns.find(token), (signIn) => {
      if (signIn === undefined) return undefined;
      return then(users.get(signIn.userKey), (user) => withEntry(user, { signIn, csrf: csrfOf(token) }));
    });
  }

  return (request) => {
    if (request.headers.authorization !== undefined) {
      const session = tokens.session(request.headers.authorization);
      return session && byToken(session);
    }
    const token = sessionToken(request);
    return token === undefined ? undefined : byCookie(token);
  };
}

/**
 * Asks again for the user of a request whose answer goes on: the user, or why it may go on no longer. Counts nothing.
 */
export function whoIsStillThere(
  request: Shown,
  { recognise, clock }: { readonly recognise: Recognise; readonly clock: Clock },
): User | ApiError | Promise<User | ApiError> {
  return then<Known | undefined, User | ApiError>(recognise(request), (known) =>
    known === undefined ? new ApiError("invalidToken") : (inactivity(known.user, clock.now()) ?? known.user),
  );
}

/** What comes of a value, at once where the value is there. */
function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
