import { createSigner, createVerifier } from "fast-jwt";
import type { Clock } from "../ports/clock.ts";

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

/** Verified tokens that are kept, so that a client's next request costs no signature: some 1 KB each. */
const keptSessions = 10_000;
/** Longest header that is looked at: ours have some 300 characters. */
const longestHeader = 2048;

/** Tokens signed with this key (at least 64 random bytes as text), valid for so many seconds. */
export function createTokens(key: string, lifetimeSeconds: number, clock: Clock): Tokens {
  const sign = createSigner({ key, algorithm: "HS512" });
  // Expiry is checked against our clock, on every request: not only when the signature is.
  const verify = createVerifier({ key, algorithms: ["HS512"], ignoreExpiration: true });
  const sessions = new Map<string, Session>();

  function read(header: string): Session | undefined {
    if (header.length > longestHeader || !/^bearer [\w-]+\.[\w-]+\.[\w-]+$/i.test(header)) return undefined;
    let payload: unknown;
    try {
      payload = verify(header.slice(7));
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
      if (header === undefined) return undefined;
      let session = sessions.get(header);
      if (session === undefined) {
        session = read(header);
        if (session === undefined) return undefined;
        if (sessions.size >= keptSessions) for (const oldest of sessions.keys()) if (sessions.delete(oldest)) break;
        sessions.set(header, session);
      }
      if (clock.now() < session.expires) return session;
      sessions.delete(header);
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
