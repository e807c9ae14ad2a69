import { type Kysely, sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import type { Schema } from "../schema.ts";
import type { SecretEngine } from "../secrets/unlock.ts";

/** The largest database that is rewritten at the start, which takes some ten seconds, bytes. */
const wipedBytes = 1_073_741_824;

/** What SQLite does for the secrets. */
export const secretEngine: SecretEngine = { hasSettings, wipe };

async function hasSettings(database: Kysely<Schema>): Promise<boolean> {
  // Raw SQL goes to the writer. A new database has no tables yet, so no reader can be opened.
  const tables = await sql`select name from sqlite_master where name = 'setting'`.execute(database);
  return tables.rows.length > 0;
}

/**
 * Rewrites the database, because gaps of its pages, and its log, still hold the secrets in plain text or under an older
 * key.
 */
async function wipe(database: Kysely<Schema>, log: Log): Promise<void> {
  const { rows } = await sql<{ size: number }>`
    select page_count * page_size as size from pragma_page_count, pragma_page_size`.execute(database);
  const { size = 0 } = rows[0] ?? {};
  const advice =
    "gaps of the database may hold secrets as they were: stop the service and run VACUUM on it (docs/storage.md)";
  if (size > wipedBytes) return log.warn({ size }, advice);
  try {
    await sql`vacuum`.execute(database);
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  } catch (error) {
    log.warn({ error, size }, advice);
  }
}
