import type { Migration } from "./migration.ts";

/** Mutes of devices and rules: see `MuteTable`. */
export const mutes: Migration = {
  name: "mutes",
  async up({ schema }, { int, key }) {
    await schema
      .createTable("mute")
      .addColumn("key", int, key)
      .addColumn("account", int, (column) => column.notNull())
      .addColumn("device", int, (column) => column.unique())
      .addColumn("rule", "text", (column) => column.unique())
      .addColumn("since", int, (column) => column.notNull())
      .addColumn("until", int, (column) => column.notNull())
      .addColumn("user", "text", (column) => column.notNull())
      .addColumn("note", "text")
      .addColumn("critical", int, (column) => column.notNull())
      .execute();
    await schema.createIndex("mute_account").on("mute").columns(["account", "key"]).execute();
    // For the deletion of mutes that have ended.
    await schema.createIndex("mute_until").on("mute").column("until").execute();
  },
};
