import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/** What the cookie of a new session holds, and what of it is stored. */
export interface SessionToken {
  readonly token: string;
  readonly hash: string;
}

/** 256 bits: not to be guessed, so a fast hash of it is as good as a slow one. */
const tokenBytes = 32;
const tokenForm = /^[\w-]{43}$/;

/** Makes a token for a cookie. */
export function makeSessionToken(ids: Ids): SessionToken {
  const token = ids.secret(tokenBytes);
  return { token, hash: hashOf(token) };
}

/** What is stored of a token: its SHA-256, hex. Undefined: it has not the form of one. */
export function hashSessionToken(token: string): string | undefined {
  return tokenForm.test(token) ? hashOf(token) : undefined;
}

function hashOf(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/**
 * What pages of the session send with each request that writes. Another site can send the cookie, but not read this.
 */
export function csrfOf(token: string): string {
  return createHmac("sha256", token).update("csrf").digest("base64url");
}

/**
 * What a browser keeps from which somebody has signed in with this e-mail address. It is no way in: see
 * docs/decisions/0036-sessions.md.
 */
export function browserMark(key: string, email: string): string {
  return createHmac("sha256", key).update(email.toLowerCase(), "utf8").digest("base64url");
}

/** Whether two texts are equal, in a time that does not tell where they differ. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
