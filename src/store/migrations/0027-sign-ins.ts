import type { Migration } from "./migration.ts";

/** Who is signed in with a browser, and second factors of users: see `SignInTable` and `SecondFactorTable`. */
export const signIns: Migration = {
  name: "sign-ins",
  async up({ schema }, { int, key }) {
    await schema
      .createTable("sign_in")
      .addColumn("key", int, key)
      .addColumn("user", int, (column) => column.notNull())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("creation", int, (column) => column.notNull())
      .addColumn("seen", int, (column) => column.notNull())
      .addColumn("expires", int, (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("browser", "text", (column) => column.notNull())
      .execute();
    await schema.createIndex("sign_in_user").on("sign_in").column("user").execute();
    // For the deletion of those that have ended.
    await schema.createIndex("sign_in_expires").on("sign_in").column("expires").execute();
    await schema
      .createTable("second_factor")
      .addColumn("user", int, (column) => column.primaryKey())
      .addColumn("secret", "text", (column) => column.notNull())
      .addColumn("confirmed", int, (column) => column.notNull())
      .addColumn("last_step", int, (column) => column.notNull())
      .addColumn("recovery", "text", (column) => column.notNull())
      .execute();
  },
};
