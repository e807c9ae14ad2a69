import { type ColumnDefinitionBuilder, sql } from "kysely";
import type { Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Refused reports are kept by bytes and age: what each device has of them, and what made room. */
export const refusedRoom: Migration = {
  name: "refused room",
  async up(database, { int }) {
    await database.schema
      .createTable("refused_room")
      .addColumn("device", int, (column) => column.primaryKey())
      .addColumn("bytes", int, required)
      .addColumn("dropped", int, required)
      .addColumn("dropped_until", int)
      .execute();
    await database.schema.createIndex("refused_received").on("refused").column("received_at").execute();
    await sql`insert into refused_room (device, bytes, dropped)
      select device, sum(octet_length(report)), 0 from refused group by device`.execute(database);
  },
};
