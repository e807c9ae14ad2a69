import type { Migration } from "./migration.ts";

/** How many places of its day a notice holds: an SMS takes one for each of its parts. */
export const noticePlaces: Migration = {
  name: "notice places",
  async up({ schema }, { int }) {
    await schema
      .alterTable("notice")
      .addColumn("counted_places", int, (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
