import type { Migration } from "./migration.ts";

/** From here on, rows of the tail with several records are packed: see `packRecords`. Older programs would take such rows for damaged. */
export const packedRows: Migration = {
  name: "packed rows",
  async up() {},
};
