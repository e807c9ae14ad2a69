import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../ports/log.ts";
import type { Link } from "../locations/calls.ts";
import type { Sealer } from "../locations/sealer.ts";
import { isDamage } from "./engine-errors.ts";
import type { SqliteReaderCalls } from "./messages.ts";

/**
 * Tables whose pages are checked after the start. A changed bit in the header of a page can hide rows, and nothing else would notice. The table of blocks' bytes is left out: it is most
 * of the database, its rows have checksums, and each is named by a row of `block`.
 */
export const verified = [
  ...["device", "device_identifier", "device_state", "account", "user", "setting"],
  ...["shifts", "patch", "block", "tail", "spent"],
] as const;

/** The most lines that are reported of a table: a single damaged page gives one for each of its rows. */
const mostMessages = 3;

/** SQLite's own check of the pages of a table and of its indexes. Empty when nothing is wrong. */
export function problemsOf(database: DatabaseSync, table: string): readonly string[] {
  try {
    // The name is no input: it is one of those above.
    const rows = database.prepare(`pragma quick_check(${table})`).all();
    const texts = rows.map(({ quick_check: text }) => String(text).replace(/^\*\*\*.*\*\*\*\n/, ""));
    return texts.filter((text) => text !== "ok").slice(0, mostMessages);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [error.message];
  }
}

/** Logs damaged pages, table by table, while the service works. */
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
