import { createSigner, createVerifier } from "fast-jwt";
import type { Clock } from "../ports/clock.ts";
import { RecentMap } from "../shares/recent-map.ts";

/** What a genuine token says. Whether its user and key still exist is for the caller to ask. */
export interface Session {
  readonly userKey: number;
  readonly apiKeyId: string;
  /** Epoch ms from which it is no longer valid. */
  readonly expires: number;
}

/** An access token and when it ends, epoch ms. */
export interface IssuedToken {
  readonly token: string;
  readonly expires: number;
}

/** Access tokens: JWT, HS512. */
export interface Tokens {
  issue(userKey: number, apiKeyId: string): IssuedToken;
  /** The session of an `Authorization` header. Undefined: no bearer token, forged, or expired. */
  session(header: string | undefined): Session | undefined;
}

/**
 * Verified tokens that are kept, so that a client's next request costs no signature: with `longestToken` 10 MB at most.
 * Forged ones are never kept.
 */
const keptSessions = 10_000;
/** Longest token that is looked at: ours have some 250 characters. It bounds what a forged one costs to a few µs. */
const longestToken = 512;

/** Characters before the token in a header. */
const scheme = "Bearer ".length;

/** Tokens signed with this key (at least 64 random bytes as text), valid for `lifetimeSeconds`. */
export function createTokens(key: string, lifetimeSeconds: number, clock: Clock): Tokens {
  const sign = createSigner({ key, algorithm: "HS512" });
  // Expiry is checked against our clock, on every request: not only when the signature is.
  const verify = createVerifier({ key, algorithms: ["HS512"], ignoreExpiration: true });
  const sessions = new RecentMap<string, Session>(keptSessions);
  // What does not even begin as ours costs no signature.
  const head = sign({}).slice(0, sign({}).indexOf(".") + 1);

  function read(token: string): Session | undefined {
    if (!token.startsWith(head) || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
    let payload: unknown;
    try {
      payload = verify(token);
    } catch {
      return undefined;
    }
    return sessionOf(payload);
  }

  return {
    issue(userKey, apiKeyId) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const exp = issuedAt + lifetimeSeconds;
      return { token: sign({ sub: String(userKey), key: apiKeyId, iat: issuedAt, exp }), expires: exp * 1000 };
    },
    session(header) {
      if (header === undefined || header.length > longestToken + scheme || !/^bearer /i.test(header)) return undefined;
      const token = header.slice(scheme);
      let session = sessions.get(token);
      if (session === undefined) {
        session = read(token);
        if (session === undefined) return undefined;
        sessions.set(token, session);
      }
      if (clock.now() < session.expires) return session;
      sessions.delete(token);
      return undefined;
    },
  };
}

function sessionOf(payload: unknown): Session | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  if (!("sub" in payload && "key" in payload && "exp" in payload)) return undefined;
  const { sub, key, exp } = payload;
  if (typeof sub !== "string" || typeof key !== "string" || typeof exp !== "number") return undefined;
  const userKey = Number(sub);
  return Number.isSafeInteger(userKey) ? { userKey, apiKeyId: key, expires: exp * 1000 } : undefined;
}
