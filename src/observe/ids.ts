import { randomFillSync, randomUUIDv7 } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/**
 * Random bytes that are fetched at a time: a call of the operating system for each secret costs as much as sealing a
 * text by it.
 */
const pool = Buffer.alloc(8192);
let used = pool.length;

function randomBytes(count: number): Buffer {
  if (count > pool.length) return randomFillSync(Buffer.alloc(count));
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}

/** Identifiers from the operating system's randomness. */
export const systemIds: Ids = Object.freeze({
  secret(bytes: number): string {
    const random = randomBytes(bytes);
    const text = random.toString("base64url");
    // What became a key must not stay in memory beside it.
    random.fill(0);
    return text;
  },
  uuid: () => randomUUIDv7(),
});
