import { type Kysely, sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import type { Schema } from "../schema.ts";
import type { SecretEngine } from "../secrets/unlock.ts";
import { closedNumber } from "./open-mark.ts";

/** The largest database, octets, that is rewritten at once, which takes some ten seconds. */
const wipedBytes = 1_073_741_824;

/** What SQLite does for the secrets. */
export const secretEngine: SecretEngine = { hasSettings, wipe };

async function hasSettings(database: Kysely<Schema>): Promise<boolean> {
  // As plain SQL, so that the writer answers: a new database has no tables yet.
  const tables = await sql`select name from sqlite_master where name = 'setting'`.execute(database);
  return tables.rows.length > 0;
}

/** Rewrites the database, because the gaps of its pages and its log still hold the secrets as they were. */
async function wipe(database: Kysely<Schema>, log: Log): Promise<void> {
  const { rows } = await sql<{ size: number; number: number }>`
    select page_count * page_size as size, user_version as number
    from pragma_page_count, pragma_page_size, pragma_user_version`.execute(database);
  const { size = 0, number = 0 } = rows[0] ?? {};
  const advice =
    "gaps of the database may hold secrets as they were: stop the service and run VACUUM on it (docs/operating.md)";
  if (size > wipedBytes) return log.warn({ size }, advice);
  try {
    await sql`vacuum`.execute(database);
    // The next step empties the log. After a kill the database would still say that it has one, and the service would not start.
    await sql.raw(`pragma user_version = ${closedNumber(number)}`).execute(database);
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  } catch (error) {
    log.warn({ error, size }, advice);
  }
}
