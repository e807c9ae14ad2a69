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
  return { id: ids.uuid(), secret, hash: hashApiKey(secret) };
}

/** Makes a key of the service's operator, who has no user: the secret is shown once, the hash is what is stored. */
export function makeOperatorKey(ids: Ids): Pick<NewApiKey, "secret" | "hash"> {
  const secret = `wbo_${ids.secret(secretBytes)}`;
  return { secret, hash: hashApiKey(secret) };
}

/** What is stored of a key: its SHA-256, hex. */
export function hashApiKey(secret: string): string {
  return digest(secret).toString("hex");
}

/** Longest `Authorization` header that is looked at for a key that is compared as it is. */
const longestHeader = 512;

/** Whether an `Authorization` header brings the key with this hash (hex): the operator's, or the one of the metrics. */
export function isBearer(header: string | undefined, hash: string): boolean {
  if (header === undefined || header.length > longestHeader || !/^bearer /i.test(header)) return false;
  return matchesApiKey(header.slice(7), hash);
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
