import type { Migration } from "./migration.ts";

/**
 * From this version on, a stored state may be older than the newest rows of the tail: see `locations/kept-states.ts`. The states that are stored now include all rows, and each says so
 * in its own row, because the setting may be damaged one day. The same default is right for a device that is registered later, which has no rows up to that number.
 */
export const keptStates: Migration = {
  name: "kept states",
  async up(database, { int }) {
    const row = await database
      .selectFrom("tail")
      .select(({ fn }) => fn.max("seq").as("newest"))
      // A damaged row may have any number. With an impossible one, all later rows would seem to be included in the states.
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
