import type { DatabaseSync } from "node:sqlite";
import { fitsNumbers } from "../records/row-sum.ts";
import { isDamage } from "./engine-errors.ts";
import { doubles, summed } from "./row-sums.ts";

/**
 * Rebuilds the index of patches by device if it does not agree with the table: a damaged entry would hide new totals. If a row of the table is damaged, the index is left as it is,
 * because it may be the one that is right. Returns whether it was rebuilt.
 */
export function mendPatchIndex(database: DatabaseSync): boolean {
  const rows = attempt(() => {
    const statement = database.prepare(`select key, ${doubles([...summed.patch, "crc"])} from patch not indexed`);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement.all();
  });
  const places = new Set<string>();
  for (const row of rows ?? []) {
    if (!Array.isArray(row)) return false;
    const [key, device, ...others] = row;
    const sum = others.pop();
    if (sum !== null && !fitsNumbers(Number(sum), [device, ...others].map(Number))) return false;
    places.add(`${key}/${device}`);
  }
  if (rows === undefined) return false;
  const entries = attempt(() => {
    const indexed =
      "select key, cast(device as real) as device from patch indexed by patch_device where device is not null";
    const statement = database.prepare(indexed);
    statement.setReadBigInts(true);
    return statement.all().map(({ key, device }) => `${key}/${device}`);
  });
  if (entries?.length === places.size && entries.every((entry) => places.has(entry))) return false;
  database.exec("reindex patch_device");
  return true;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
