import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** How many positions each zone has. The sum over an account's large zones is then read from an index, and no zone is read for it. */
export const positions: Migration = {
  name: "positions of zones",
  async up(database, { int }) {
    const { schema } = database;
    await schema
      .alterTable("geofence")
      .addColumn("positions", int, (column) => column.notNull().defaultTo(0))
      .execute();
    // One zone whose text is damaged must not keep the service of all from starting.
    await sql`update geofence set positions = case json_extract(zone, '$.kind')
      when 'circle' then 1
      when 'route' then coalesce(json_array_length(zone, '$.line'), 0)
      else (select coalesce(sum(json_array_length(value)), 0) from json_each(zone, '$.rings')) end
      where json_valid(zone)`.execute(database);
    await schema.createIndex("geofence_positions").on("geofence").columns(["account", "positions"]).execute();
  },
};
