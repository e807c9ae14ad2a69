import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { SignIn } from "../model/sign-in.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { ChosenSignIns } from "../ports/sign-ins.ts";
import type { Store } from "../ports/store.ts";
import { createCache, dropWhereMissed } from "./cache.ts";

/** Where a person signs in. */
export interface SignInPlace {
  readonly address: string;
  readonly browser: string;
}

/** Who is signed in with a browser, for as long as that lasts. */
export interface SignIns {
  /**
   * The one of a cookie's token, which counts as used now. Undefined: there is none, or it has ended. At once where it
   * is in memory.
   */
  find(token: string): SignIn | undefined | Promise<SignIn | undefined>;
  /** @throws ApiError `wrongSignIn`: the user is gone by now */
  begin(user: User, place: SignInPlace): Promise<{ readonly token: string; readonly signIn: SignIn }>;
  /** Of a user, the newest first. */
  list(userKey: number): Promise<readonly SignIn[]>;
  /** Ends them at once. */
  end(userKey: number, chosen: ChosenSignIns): Promise<void>;
}

/** What they need of the service. */
export interface SignInsContext {
  readonly store: Pick<Store, "signIns">;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** src/auth/session-token.ts */
  readonly makeToken: (ids: Ids) => { readonly token: string; readonly hash: string };
  readonly hashToken: (token: string) => string | undefined;
  readonly limits: { readonly idleSeconds: number; readonly longestSeconds: number; readonly perUser: number };
}

/** Kept in memory: some 500 B each, and at most this many bytes. */
const kept = { capacity: 20_000, mostBytes: 16_777_216 };
/** Age at which one is read again, should the event of its end be lost. */
const maxAgeMs = 10_000;
/** How old the noted time of the last use may be: each note is a commit. */
const noteMs = 300_000;
/** Longest text of a browser's name that is kept. */
const longestName = 256;

/** The sign-ins over their store. */
export function createSignIns(context: SignInsContext): SignIns {
  const { store, bus, clock, ids, log, makeToken, hashToken, limits } = context;
  const idleMs = limits.idleSeconds * 1000;
  const touchMs = Math.min(noteMs, idleMs / 10);
  // The time of the last use changes in memory, and is stored now and then.
  const cache = createCache<string, { readonly signIn: SignIn; seen: number }>({
    clock,
    load: async (hash) => {
      const signIn = await store.signIns.find(hash);
      return signIn && { signIn, seen: signIn.seen };
    },
    maxAgeMs,
    ...kept,
  });

  const isGood = (signIn: SignIn, now: number) => now < Math.min(signIn.expires, signIn.seen + idleMs);

  function used(found: { readonly signIn: SignIn; seen: number } | undefined): ReturnType<SignIns["find"]> {
    const now = clock.now();
    if (found === undefined || !isGood({ ...found.signIn, seen: found.seen }, now)) return undefined;
    if (now - found.seen < touchMs) return found.signIn;
    found.seen = now;
    const noted = store.signIns.touch(found.signIn.key, now);
    return noted
      .catch((error: unknown) => log.warn({ error }, "the use of a session is not noted"))
      .then(() => found.signIn);
  }

  dropWhereMissed(bus, cache);
  bus.subscribe((event) => {
    if (event.type === "signInsEnded") for (const hash of event.hashes) cache.drop(hash);
  });
  const ended = (hashes: readonly string[]) => {
    if (hashes.length > 0) bus.publish({ type: "signInsEnded", hashes });
  };

  return {
    find(token) {
      const hash = hashToken(token);
      if (hash === undefined) return undefined;
      const found = cache.get(hash);
      return found instanceof Promise ? found.then(used) : used(found);
    },
    async begin(user, { address, browser }) {
      const { token, hash: tokenHash } = makeToken(ids);
      const now = clock.now();
      const times = { creation: now, seen: now, expires: now + limits.longestSeconds * 1000 };
      const place = { address, browser: browser.slice(0, longestName) };
      const result = await store.signIns.create({ userKey: user.key, tokenHash, ...times, ...place }, limits.perUser);
      if (result === undefined) throw new ApiError("wrongSignIn");
      ended(result.ended);
      return { token, signIn: result.made };
    },
    async list(userKey) {
      const now = clock.now();
      return (await store.signIns.list(userKey)).filter((signIn) => isGood(signIn, now));
    },
    async end(userKey, chosen) {
      ended(await store.signIns.remove(userKey, chosen));
    },
  };
}
