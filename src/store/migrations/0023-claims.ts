import type { Migration } from "./migration.ts";

/** Who works on a notice or has sent a command, and how often it has renewed its claim of a notice. */
export const claims: Migration = {
  name: "claims",
  async up({ schema }, { int }) {
    for (const table of ["notice", "command"])
      await schema
        .alterTable(table)
        .addColumn("owner", "text", (column) => column.notNull().defaultTo(""))
        .execute();
    await schema
      .alterTable("notice")
      .addColumn("lease", int, (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
