import type { Migration } from "./migration.ts";

/** Pauses between messages to a recipient about the same: see `NoticePauseTable`. */
export const noticePauses: Migration = {
  name: "notice pauses",
  async up({ schema }, { int }) {
    await schema
      .createTable("notice_pause")
      .addColumn("subject", "text", (column) => column.primaryKey())
      .addColumn("data", "text", (column) => column.notNull())
      .addColumn("asked_at", int, (column) => column.notNull())
      .execute();
    // For the deletion of those that nobody needs any more.
    await schema.createIndex("notice_pause_asked").on("notice_pause").column("asked_at").execute();
  },
};
