import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const primary = (column: ColumnDefinitionBuilder) => column.notNull().primaryKey();

/** Accounts, users, devices, their states and records, counters and settings. */
export const first: Migration = {
  name: "first",
  async up(database, engine) {
    await createAccount(database, engine).execute();
    await createUser(database, engine).execute();
    await createDevice(database, engine).execute();
    await database.schema.createIndex("device_account").on("device").columns(["account", "id", "expires"]).execute();
    for (const table of [...deviceTables(database, engine), ...otherTables(database, engine)]) await table.execute();
    await database.schema.createIndex("device_identifier_device").on("device_identifier").column("device").execute();
    await database.schema.createIndex("refused_device").on("refused").columns(["device", "seq"]).execute();
  },
};

function createAccount(database: Kysely<Schema>, { int, key }: Engine) {
  return database.schema
    .createTable("account")
    .addColumn("key", int, key)
    .addColumn("name", "text", required)
    .addColumn("time_zone", "text", required)
    .addColumn("licenses", int, required)
    .addColumn("creation", int, required);
}

function createUser(database: Kysely<Schema>, { int, key }: Engine) {
  return database.schema
    .createTable("user")
    .addColumn("key", int, key)
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("account", int, (column) => column.notNull().references("account.key"))
    .addColumn("owner", int, required)
    .addColumn("name", "text", required)
    .addColumn("email", "text", required)
    .addColumn("email_lower", "text", (column) => column.notNull().unique())
    .addColumn("country", "text", required)
    .addColumn("time_zone", "text", required)
    .addColumn("description", "text")
    .addColumn("message", "text")
    .addColumn("disabled", int, required)
    .addColumn("disabled_message", "text")
    .addColumn("tags", "text", required)
    .addColumn("privileges", "text", required)
    .addColumn("group_name", "text")
    .addColumn("device_id", "text")
    .addColumn("admin_devices", int)
    .addColumn("valid_from", int)
    .addColumn("expires", int)
    .addColumn("api_key_hash", "text")
    .addColumn("api_key_id", "text")
    .addColumn("creation", int, required)
    .addColumn("modification", int, required)
    .addColumn("last_login", int);
}

function createDevice(database: Kysely<Schema>, { int, double, key }: Engine) {
  return database.schema
    .createTable("device")
    .addColumn("key", int, key)
    .addColumn("account", int, (column) => column.notNull().references("account.key"))
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("aliases", "text", required)
    .addColumn("name", "text", required)
    .addColumn("description", "text")
    .addColumn("min", "text")
    .addColumn("tags", "text", required)
    .addColumn("expires", int)
    .addColumn("daily_email_limit", int, required)
    .addColumn("daily_sms_limit", int, required)
    .addColumn("odometer_start", double, required)
    .addColumn("time_offset", int, (column) => column.notNull().defaultTo(0))
    .addColumn("speed_unit", "text")
    .addColumn("creation", int, required)
    .addColumn("modification", int, required);
}

function deviceTables(database: Kysely<Schema>, engine: Engine): readonly CreateTableBuilder<string, string>[] {
  const { int, bytes, key } = engine;
  const { schema } = database;
  return [
    schema
      .createTable("device_identifier")
      .addColumn("identifier", "text", primary)
      .addColumn("device", int, (column) => column.notNull().references("device.key")),
    schema
      .createTable("device_state")
      .addColumn("device", int, primary)
      .addColumn("version", int, required)
      .addColumn("data", bytes, required),
    // Few and narrow columns before the bytes: the scan at start reads only these, and rows are in the order of commits.
    schema
      .createTable("tail")
      .addColumn("seq", int, primary)
      .addColumn("device", int, required)
      .addColumn("first", int, required)
      .addColumn("last", int, required)
      .addColumn("count", int, required)
      .addColumn("data", bytes, required),
    schema
      .createTable("refused")
      .addColumn("seq", int, key)
      .addColumn("device", int, required)
      .addColumn("received_at", int, required)
      .addColumn("time", int, required)
      .addColumn("cause", "text", required)
      .addColumn("report", "text", required),
    schema.createTable("purge").addColumn("device", int, primary),
  ];
}

function otherTables(database: Kysely<Schema>, { int }: Engine): readonly CreateTableBuilder<string, string>[] {
  const { schema } = database;
  return [
    schema
      .createTable("user_usage")
      .addColumn("user", int, required)
      .addColumn("day", "text", required)
      .addColumn("requests", int, required)
      .addPrimaryKeyConstraint("user_usage_key", ["user", "day"]),
    schema
      .createTable("device_results")
      .addColumn("device", int, required)
      .addColumn("day", "text", required)
      .addColumn("results", int, required)
      .addPrimaryKeyConstraint("device_results_key", ["device", "day"]),
    schema.createTable("setting").addColumn("name", "text", primary).addColumn("value", "text", required),
  ];
}
