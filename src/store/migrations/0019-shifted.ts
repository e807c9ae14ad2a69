import type { Migration } from "./migration.ts";

/** Whether a device has a row of shifts. Without this mark, nobody would notice that damage hides the row, and totals would be wrong. */
export const shifted: Migration = {
  name: "shifted",
  async up({ schema }, { int }) {
    await schema.alterTable("device_state").addColumn("shifted", int).execute();
  },
};
