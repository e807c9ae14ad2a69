import type { Migration } from "./migration.ts";

/** What an account asks of whoever says that it is the device, and how the device spoke so far. */
export const deviceIdentity: Migration = {
  name: "device identity",
  async up({ schema }) {
    for (const list of ["protocols", "networks", "spoken"])
      await schema
        .alterTable("device")
        .addColumn(list, "text", (column) => column.notNull().defaultTo("[]"))
        .execute();
    await schema.alterTable("device").addColumn("secret_hash", "text").execute();
  },
};
