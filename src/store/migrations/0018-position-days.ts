import type { Migration } from "./migration.ts";

/** For how many days an account's and a device's positions are kept, and how many of each device were deleted, so that a check does not report them as missing. */
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
