import type { Migration } from "./migration.ts";

/** Links to devices and groups: see `ShareTable`. */
export const shares: Migration = {
  name: "shares",
  async up({ schema }, { int, key }) {
    await schema
      .createTable("share")
      .addColumn("key", int, key)
      .addColumn("id", "text", (column) => column.notNull().unique())
      .addColumn("account", int, (column) => column.notNull())
      .addColumn("user", int, (column) => column.notNull())
      .addColumn("device", int)
      .addColumn("group_id", "text")
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("creation", int, (column) => column.notNull())
      .addColumn("expires", int, (column) => column.notNull())
      .execute();
    await schema.createIndex("share_account").on("share").column("account").execute();
    await schema.createIndex("share_user").on("share").column("user").execute();
    await schema.createIndex("share_group").on("share").column("group_id").execute();
    await schema.createIndex("share_device").on("share").column("device").execute();
    // For the deletion of those that have ended.
    await schema.createIndex("share_expires").on("share").column("expires").execute();
  },
};
