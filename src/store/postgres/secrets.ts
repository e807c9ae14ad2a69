import { type Kysely, sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import type { Schema } from "../schema.ts";
import type { SecretEngine } from "../secrets/unlock.ts";

/** What PostgreSQL does for the secrets. */
export const secretEngine: SecretEngine = { hasSettings, wipe };

async function hasSettings(database: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(quote_ident(current_schema()) || '.setting') is not null as found`.execute(database);
  return rows[0]?.found === true;
}

/**
 * Rewrites the tables that hold secrets, because pages keep old versions of rows. The server's log and backups are its
 * operator's affair.
 */
async function wipe(database: Kysely<Schema>, log: Log): Promise<void> {
  try {
    for (const table of ["setting", "alert_rule", "notice"])
      await sql`vacuum full ${sql.table(table)}`.execute(database);
  } catch (error) {
    log.warn(
      { error: String(error) },
      "tables may hold secrets as they were: run VACUUM FULL on the database (docs/storage.md)",
    );
  }
}
