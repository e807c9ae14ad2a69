import { type ColumnDefinitionBuilder, sql } from "kysely";
import type { Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** The parts of commands by SMS, each with what the gateway calls it: a command knew only its last one. */
export const commandParts: Migration = {
  name: "command parts",
  async up(database, { int }) {
    const { schema } = database;
    await schema
      .createTable("command_part")
      // No reference: parts are deleted before their commands.
      .addColumn("command", int, required)
      .addColumn("part", int, required)
      .addColumn("sms_id", "text")
      .addColumn("delivered", int)
      .addPrimaryKeyConstraint("command_part_key", ["command", "part"])
      .execute();
    const byId = schema.createIndex("command_part_sms").on("command_part").columns(["sms_id", "command"]);
    await byId.where("sms_id", "is not", null).execute();
    await sql`INSERT INTO command_part (command, part, sms_id) SELECT key, 0, sms_id FROM command WHERE sms_id IS NOT NULL`.execute(
      database,
    );
    await schema.dropIndex("command_sms").execute();
    await schema.alterTable("command").dropColumn("sms_id").execute();
  },
};
