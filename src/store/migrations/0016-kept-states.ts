import type { Migration } from "./migration.ts";

/**
 * From here on a state may be older than the newest rows of the tail: see `sqlite/kept-states.ts`. Those that are stored include all rows, and each says so itself: the setting may
 * be damaged one day. A device that is made later has no rows up to that number.
 */
export const keptStates: Migration = {
  name: "kept states",
  async up(database, { int }) {
    const row = await database
      .selectFrom("tail")
      .select(({ fn }) => fn.max("seq").as("newest"))
      // A damaged row may have any number. One that is never given would make each later row seem to be in the states.
      .where("seq", "<", 2 ** 52)
      .executeTakeFirst();
    const newest = Number(row?.newest ?? 0);
    await database.schema
      .alterTable("device_state")
      .addColumn("as_of", int, (column) => column.notNull().defaultTo(newest))
      .execute();
    await database
      .insertInto("setting")
      .values([
        { name: "states", value: String(newest) },
        { name: "states again", value: String(newest) },
      ])
      .execute();
  },
};
