import type { Migration } from "./migration.ts";

/** Which rows of the tail are in blocks by now: see `records/spent.ts`. Older programs would take them for positions that are there twice. */
export const spent: Migration = {
  name: "spent rows",
  async up({ schema }, { int, bytes }) {
    await schema
      .createTable("spent")
      .addColumn("device", int, (column) => column.primaryKey())
      .addColumn("seq", int, (column) => column.notNull())
      .addColumn("data", bytes, (column) => column.notNull())
      .addColumn("crc", int)
      .execute();
  },
};
