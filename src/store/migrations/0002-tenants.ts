import { type ColumnDefinitionBuilder, type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Public ids of accounts, passwords, groups, commands, and counters of what is sent from devices. */
export const tenants: Migration = {
  name: "tenants",
  async up(database, engine) {
    const { schema } = database;
    // The default is for this statement alone: a column that may not be null needs one where there are rows.
    await schema
      .alterTable("account")
      .addColumn("id", "text", (column) => column.notNull().defaultTo(""))
      .execute();
    await database.updateTable("account").set({ id: engine.uuid }).execute();
    await schema.createIndex("account_id").on("account").column("id").unique().execute();
    await schema.alterTable("user").addColumn("password_hash", "text").execute();
    await schema.createIndex("user_account").on("user").columns(["account", "key"]).execute();
    await schema.createIndex("device_expires").on("device").columns(["expires", "key"]).execute();
    await createGroup(database, engine);
    await createCommand(database, engine);
    await schema
      .createTable("device_sent")
      .addColumn("device", engine.int, required)
      .addColumn("day", "text", required)
      .addColumn("sms", engine.int, required)
      .addColumn("email", engine.int, required)
      .addPrimaryKeyConstraint("device_sent_key", ["device", "day"])
      .execute();
  },
};

async function createGroup({ schema }: Kysely<Schema>, { int, key }: Engine): Promise<void> {
  await schema
    .createTable("device_group")
    .addColumn("key", int, key)
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("account", int, (column) => column.notNull().references("account.key"))
    .addColumn("name", "text", required)
    .addColumn("description", "text")
    .addColumn("devices", "text", required)
    .addColumn("creation", int, required)
    .addColumn("last_modified", int, required)
    .execute();
  await schema.createIndex("device_group_account").on("device_group").columns(["account", "key"]).execute();
}

async function createCommand({ schema }: Kysely<Schema>, { int, key }: Engine): Promise<void> {
  await schema
    .createTable("command")
    .addColumn("key", int, key)
    .addColumn("id", "text", (column) => column.notNull().unique())
    // No reference: a device goes at once, its commands by and by.
    .addColumn("device", int, required)
    .addColumn("user", int, required)
    .addColumn("user_name", "text", required)
    .addColumn("channel", "text", required)
    .addColumn("format", "text", required)
    .addColumn("command", "text", required)
    .addColumn("encode", int, required)
    .addColumn("state", "text", required)
    .addColumn("creation", int, required)
    .addColumn("expires", int, required)
    .addColumn("sent_at", int)
    .addColumn("finished_at", int)
    .addColumn("reply", "text")
    .addColumn("failure", "text")
    .addColumn("sms_id", "text")
    .addColumn("idempotency_key", "text")
    .execute();
  await schema.createIndex("command_device").on("command").columns(["device", "key"]).execute();
  // Few commands wait and many are kept: these two hold only those that wait.
  const waits = sql<boolean>`state = 'queued'`;
  await schema.createIndex("command_queued").on("command").columns(["device", "key"]).where(waits).execute();
  await schema.createIndex("command_expires").on("command").column("expires").where(waits).execute();
  const sms = schema.createIndex("command_sms").on("command").columns(["sms_id", "key"]);
  await sms.where("sms_id", "is not", null).execute();
  // Nulls are never equal here, so commands without a key stand beside each other.
  const idempotency = schema.createIndex("command_idempotency").on("command");
  await idempotency.columns(["device", "user", "idempotency_key"]).unique().execute();
}
