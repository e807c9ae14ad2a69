import { createHash, createHmac } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/** What a link holds, and what of it is stored. */
export interface ShareToken {
  readonly token: string;
  readonly hash: string;
}

/** 256 bits: not to be guessed, so a fast hash of it is as good as a slow one. */
const tokenBytes = 32;
/** Its prefix lets scanners of published text recognise it. */
const prefix = "wbs_";
const header = /^bearer (wbs_[\w-]{43})$/i;

/** Makes a token for a link. */
export function makeShareToken(ids: Ids): ShareToken {
  const token = prefix + ids.secret(tokenBytes);
  return { token, hash: hashOf(token) };
}

/** What is stored of the token that an `Authorization` header brings: its SHA-256, hex. Undefined: it brings none. */
export function shareHashIn(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : header.exec(authorization)?.[1];
  return token === undefined ? undefined : hashOf(token);
}

function hashOf(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/**
 * What a link calls a device: always the same, and of no use anywhere else. The device's own id would be: trackers say
 * nothing else to be let in.
 */
export function sharedName(tokenHash: string, device: number): string {
  return createHmac("sha256", tokenHash).update(String(device)).digest("base64url").slice(0, 16);
}
