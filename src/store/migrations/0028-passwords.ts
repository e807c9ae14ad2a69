import type { Migration } from "./migration.ts";

/** Which passwords are a way in. Those of older versions were none, and nobody was asked for more than a token to set one. */
export const passwords: Migration = {
  name: "passwords",
  async up({ schema }, { int }) {
    await schema
      .alterTable("user")
      .addColumn("password_signs_in", int, (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
