import { createHash, timingSafeEqual } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/** A new API key: the secret is shown once, the hash is what is stored, the id names it in tokens. */
export interface NewApiKey {
  readonly id: string;
  readonly secret: string;
  readonly hash: string;
}

/** 256 bits: not to be guessed, so a fast hash of it is as good as a slow one. */
const secretBytes = 32;

/** Makes an API key. Its prefix lets scanners of published code recognise it. */
export function makeApiKey(ids: Ids): NewApiKey {
  const secret = `wbk_${ids.secret(secretBytes)}`;
  return { id: ids.uuid(), secret, hash: digest(secret).toString("hex") };
}

/** Whether a key is the one with this hash (hex). Takes the same time for a user that has no key. */
export function matchesApiKey(secret: string, hash: string | null): boolean {
  const expected = Buffer.from(hash ?? "", "hex");
  const found = digest(secret);
  return expected.length === found.length && timingSafeEqual(expected, found);
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret, "utf8").digest();
}
