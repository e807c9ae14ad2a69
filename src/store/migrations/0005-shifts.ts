import type { ColumnDefinitionBuilder } from "kysely";
import type { Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** What late records add to the totals of those after them, until it is folded into the chunks. */
export const shifts: Migration = {
  name: "shifts",
  async up({ schema }, { int, bytes }) {
    await schema
      .createTable("shifts")
      .addColumn("device", int, (column) => column.primaryKey())
      .addColumn("seq", int, required)
      .addColumn("since", int, required)
      .addColumn("count", int, required)
      .addColumn("data", bytes, required)
      .execute();
  },
};
