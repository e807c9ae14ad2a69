import type { Migration } from "./migration.ts";

/** Whether a device has a row of shifts. Where that row is not found, because its page is damaged, the totals would be told without it. */
export const shifted: Migration = {
  name: "shifted",
  async up({ schema }, { int }) {
    await schema.alterTable("device_state").addColumn("shifted", int).execute();
  },
};
