import { makeAccountTables } from "./accounts.ts";
import { makeAlertTables } from "./alerts.ts";
import { makeDeviceTables } from "./devices.ts";
import type { Migration } from "./migration.ts";
import { makeQuotas } from "./quotas.ts";
import { makeRuleTables } from "./rule-tables.ts";

/** All tables but those of positions. */
export const first: Migration = {
  name: "tables",
  async up(database, engine) {
    await makeAccountTables(database, engine);
    await makeDeviceTables(database, engine);
    await makeAlertTables(database, engine);
    await makeQuotas(database, engine);
    await makeRuleTables(database, engine);
  },
};
