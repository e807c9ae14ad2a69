import { createHash, timingSafeEqual } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/** 128 bits: equal secrets of two devices have different hashes. */
const saltBytes = 16;

/**
 * What is stored of a tracker's password or key: a salt and a SHA-256, so that a copy of the data holds no secret as it
 * is. Not a slow hash: it is compared for each request of a phone, and what a tracker carries goes over its network
 * unencrypted anyway.
 */
export function hashTrackerSecret(secret: string, ids: Ids): string {
  const salt = ids.secret(saltBytes);
  return `${salt}.${digest(salt, secret).toString("hex")}`;
}

/** Whether it is the secret with this hash, in the same time for every secret of a length. */
export function matchesTrackerSecret(secret: string, hash: string): boolean {
  const [salt = "", hex = ""] = hash.split(".");
  const [expected, found] = [Buffer.from(hex, "hex"), digest(salt, secret)];
  return expected.length === found.length && timingSafeEqual(expected, found);
}

function digest(salt: string, secret: string): Buffer {
  return createHash("sha256").update(salt, "utf8").update(".").update(secret, "utf8").digest();
}
