import type { Migration } from "./migration.ts";

/** Checksums of rows: see `records/row-sum.ts`. A row that an older version wrote has none until it is written again. */
export const sums: Migration = {
  name: "sums",
  async up({ schema }, { int }) {
    for (const table of ["tail", "block", "shifts", "patch", "device_state"])
      await schema.alterTable(table).addColumn("crc", int).execute();
  },
};
