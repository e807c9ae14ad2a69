import { isDeepStrictEqual } from "node:util";
import { ChangedSince } from "../../ports/store.ts";

/**
 * Throws `ChangedSince` unless what is stored is what was read. The caller has locked it, so that it stays so until it
 * is written. All of it is compared: a number that each change raises would say the same, but each table would need
 * one, and each writer would have to raise it.
 */
export function checkAsRead<T>(stored: T, read: T | undefined): void {
  if (read !== undefined && !isDeepStrictEqual(stored, read)) throw new ChangedSince("it was changed meanwhile");
}
