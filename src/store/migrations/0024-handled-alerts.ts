import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/**
 * What became of alerts: see `AlertTable`. Those of before count as closed, since nobody was asked to look at them. The lists of a whole account have an index for
 * each thing that few of its alerts may be.
 */
export const handledAlerts: Migration = {
  name: "handled alerts",
  async up(database, { int }) {
    const { schema } = database;
    const table = () => schema.alterTable("alert");
    await table().addColumn("account", int).execute();
    await table()
      .addColumn("state", int, (column) => column.notNull().defaultTo(2))
      .execute();
    for (const moment of ["ended_at", "acknowledged_at", "closed_at"]) await table().addColumn(moment, int).execute();
    for (const text of ["acknowledged_by", "acknowledged_note", "closed_by", "closed_note"])
      await table().addColumn(text, "text").execute();
    await sql`update alert set account = (select device.account from device where device."key" = alert.device)`.execute(
      database,
    );
    const index = (name: string) => schema.createIndex(name).on("alert");
    await index("alert_account").columns(["account", "time", "key"]).execute();
    await index("alert_type").columns(["account", "type", "time", "key"]).execute();
    await index("alert_of_rule").columns(["rule", "time", "key"]).execute();
    await index("alert_found").columns(["account", "key"]).execute();
    const isCritical = sql<boolean>`critical = 1`;
    await index("alert_critical").columns(["account", "time", "key"]).where(isCritical).execute();
    // Few are open and many are kept, so these are small.
    const isOpen = sql<boolean>`state < 2`;
    await index("alert_open")
      .columns(["account", "time", "key", "state", "critical", "rule", "type", "device"])
      .where(isOpen)
      .execute();
    await index("alert_open_rule").columns(["device", "rule"]).where(isOpen).execute();
    await index("alert_open_found").columns(["raised_at"]).where(isOpen).execute();
  },
};
