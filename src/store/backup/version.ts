import type { DatabaseSync } from "node:sqlite";
import { checkNumber } from "../migrations/migrations.ts";
import { sealingSettings } from "../secrets/unlock.ts";
import { BackupRefused } from "./refused.ts";

/**
 * The number of a database's newest migration. Throws `BackupRefused` where the database is not the service's, and what
 * `checkNumber` does.
 */
export function checkVersion(database: DatabaseSync): number {
  const table = database.prepare(`select 1 from sqlite_master where type = 'table' and name = 'migration'`);
  if (table.get() === undefined)
    throw new BackupRefused(
      "waybeam.db is not a database of this service",
      "Name the data folder of the service by WAYBEAM_DATA or --config.",
    );
  const version = Number(database.prepare(`select max(number) as number from migration`).get()?.number ?? 0);
  checkNumber(version);
  return version;
}

/** What the keys are called that the database's secrets are sealed by. */
export function keyIdsOf(database: DatabaseSync): readonly string[] {
  const found = database.prepare("select distinct value from setting where name in (?, ?) order by value");
  return found.all(...sealingSettings).map(({ value }) => String(value));
}
