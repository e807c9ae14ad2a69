import type { DatabaseSync } from "node:sqlite";
import { fitsNumbers } from "../records/row-sum.ts";
import { isDamage } from "./engine-errors.ts";
import { doubles, summed } from "./row-sums.ts";

/** What became of the index. "damaged": it can't be rebuilt. */
export type MendedIndex = "kept" | "rebuilt" | "damaged";

/**
 * Rebuilds the index of patches by device if it does not agree with the table: a damaged entry would hide new totals. If a row of the table is damaged, the index is left as it is,
 * because it may be the one that is right. If a page of the index can't be read, SQLite can't free its pages, so it is left as it is, too: whoever needs that page is told that it is
 * damaged. No list of all patches is held, because thousands of devices may have hundreds each.
 */
export function mendPatchIndex(database: DatabaseSync): MendedIndex {
  if (attempt(() => isTableWhole(database)) !== true) return "kept";
  if (attempt(() => hasEveryEntry(database)) === true) return "kept";
  return attempt(() => database.exec("reindex patch_device")) === "damaged" ? "damaged" : "rebuilt";
}

function isTableWhole(database: DatabaseSync): boolean {
  const statement = database.prepare(`select ${doubles([...summed.patch, "crc"])} from patch not indexed`);
  statement.setReturnArrays(true);
  for (const row of statement.iterate()) {
    if (!Array.isArray(row)) return false;
    const sum: unknown = row.pop();
    // A row in whose place there are zeros has no checksum either, as those of older versions.
    if (row.includes(null)) return false;
    if (sum !== null && !fitsNumbers(Number(sum), row.map(Number))) return false;
  }
  return true;
}

/** Whether each row is found by its device, and there are no more entries than rows. */
function hasEveryEntry(database: DatabaseSync): boolean {
  const entries = "select count(*) from patch indexed by patch_device where device is not null";
  const found =
    "select 1 from patch found indexed by patch_device where found.device = patch.device and found.key = patch.key";
  const sql = `select (${entries}) = (select count(*) from patch not indexed)
    and not exists (select 1 from patch not indexed where not exists (${found})) as agrees`;
  return database.prepare(sql).get()?.agrees === 1;
}

function attempt<T>(work: () => T): T | "damaged" {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return "damaged";
  }
}
