import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** From here on a state may be older than the newest rows of the tail: see `sqlite/kept-states.ts`. Those that are stored include all rows. */
export const keptStates: Migration = {
  name: "kept states",
  async up(database, { int }) {
    await database.schema
      .alterTable("device_state")
      .addColumn("as_of", int, (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`insert into setting (name, value) select 'states', coalesce(max(seq), 0) from tail`.execute(database);
  },
};
