import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../ports/log.ts";
import type { Link } from "../locations/calls.ts";
import type { Sealer } from "../locations/sealer.ts";
import { isDamage } from "./engine-errors.ts";
import type { SqliteReaderCalls } from "./messages.ts";

/**
 * Tables whose pages are looked at after the start. A changed bit in the head of a page hides rows, and nobody misses what nobody finds. The bytes of blocks are not among them:
 * they are most of the database, have checksums, and each has a row that says that it is there.
 */
export const verified = [
  ...["device", "device_identifier", "device_state", "account", "user", "setting"],
  ...["shifts", "patch", "block", "tail"],
] as const;

/** What is told of a table, at most: one page that is damaged gives a line for each of its rows. */
const mostMessages = 3;

/** SQLite's own check of the pages of a table and of its indexes. Empty when nothing is wrong. */
export function problemsOf(database: DatabaseSync, table: string): readonly string[] {
  try {
    // The names are those above.
    const rows = database.prepare(`pragma quick_check(${table})`).all();
    const texts = rows.map(({ quick_check: text }) => String(text).replace(/^\*\*\*.*\*\*\*\n/, ""));
    return texts.filter((text) => text !== "ok").slice(0, mostMessages);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

/** Tells the log of damaged pages, table by table, while the service works. */
export async function tellDamagedTables(
  reader: Link<SqliteReaderCalls>,
  sealer: Pick<Sealer, "tellTable">,
  log: Log,
  closing: AbortSignal,
): Promise<void> {
  try {
    for (const table of verified) {
      if (closing.aborted) return;
      const problems = await reader.call("verify", table);
      if (problems.length > 0) sealer.tellTable(table, problems);
    }
  } catch (error) {
    if (!closing.aborted) log.warn({ error: String(error) }, "the tables can't be looked at; the next start does that");
  }
}
