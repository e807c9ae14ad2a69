import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { Ids } from "../ports/ids.ts";

/** Identifiers from the operating system's randomness. */
export const systemIds: Ids = Object.freeze({
  secret: (bytes: number) => randomBytes(bytes).toString("base64url"),
  uuid: () => randomUUIDv7(),
});
