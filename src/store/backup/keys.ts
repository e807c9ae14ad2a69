import { readKeys } from "../secrets/key-file.ts";

/**
 * Whether a file holds all keys of these names. No names: it need not be there. Throws `SecretKeyUnusable` where it
 * can't be read.
 */
export function holdsKeys(file: string, ids: readonly string[]): boolean {
  if (ids.length === 0) return true;
  const held = new Set(readKeys(file)?.map(({ id }) => id));
  return ids.every((id) => held.has(id));
}
