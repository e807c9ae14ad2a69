import type { ColumnDefinitionBuilder } from "kysely";
import type { Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const none = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

/** Sealed records, and what late records change in them. The service later seals in the background what older versions stored in the tail. */
export const blocks: Migration = {
  name: "blocks",
  async up({ schema }, { int, bytes }) {
    // The start reads this table. The bytes have a table of their own, so that the start reads none of them.
    await schema
      .createTable("block")
      .addColumn("seq", int, (column) => column.primaryKey())
      .addColumn("device", int, required)
      .addColumn("first", int, required)
      .addColumn("last", int, required)
      .addColumn("count", int, required)
      .addColumn("bytes", int, required)
      .addColumn("as_of", int, required)
      .addColumn("odometer_mm", int, none)
      .addColumn("sensor1_ms", int, none)
      .addColumn("sensor2_ms", int, none)
      .addColumn("sensor3_ms", int, none)
      .addColumn("sensor4_ms", int, none)
      .execute();
    await schema
      .createTable("block_data")
      .addColumn("seq", int, (column) => column.primaryKey())
      .addColumn("data", bytes, required)
      .execute();
    await schema
      .createTable("patch")
      .addColumn("key", int, (column) => column.primaryKey())
      .addColumn("device", int, required)
      .addColumn("seq", int, required)
      .addColumn("first", int, required)
      .addColumn("last", int, required)
      .addColumn("count", int, required)
      .addColumn("data", bytes, required)
      .execute();
    await schema.createIndex("patch_device").on("patch").columns(["device"]).execute();
  },
};
