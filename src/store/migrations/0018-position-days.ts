import type { Migration } from "./migration.ts";

/** How long positions are kept, of an account and of a device; and how many were deleted of each device, so that a check does not miss them. */
export const positionDays: Migration = {
  name: "position days",
  async up({ schema }, { int }) {
    await schema.alterTable("account").addColumn("position_days", int).execute();
    await schema.alterTable("device").addColumn("position_days", int).execute();
    await schema
      .alterTable("device_state")
      .addColumn("deleted", int, (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
