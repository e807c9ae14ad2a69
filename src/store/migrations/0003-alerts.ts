import { type ColumnDefinitionBuilder, type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const unique = (column: ColumnDefinitionBuilder) => column.notNull().unique();
const account = (column: ColumnDefinitionBuilder) => column.notNull().references("account.key");

/** Zones, rules, alerts, the outbox of notices, and the language of accounts. */
export const alerts: Migration = {
  name: "alerts",
  async up(database, engine) {
    const language = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo("en");
    await database.schema.alterTable("account").addColumn("language", "text", language).execute();
    await createGeofence(database, engine);
    await createRule(database, engine);
    await createAlert(database, engine);
    await createNotice(database, engine);
  },
};

async function createGeofence({ schema }: Kysely<Schema>, { int, key }: Engine): Promise<void> {
  await schema
    .createTable("geofence")
    .addColumn("key", int, key)
    .addColumn("id", "text", unique)
    .addColumn("account", int, account)
    .addColumn("name", "text", required)
    .addColumn("description", "text")
    .addColumn("zone", "text", required)
    .addColumn("creation", int, required)
    .addColumn("modification", int, required)
    .execute();
  await schema.createIndex("geofence_account").on("geofence").columns(["account", "key"]).execute();
}

async function createRule({ schema }: Kysely<Schema>, { int, key }: Engine): Promise<void> {
  await schema
    .createTable("alert_rule")
    .addColumn("key", int, key)
    .addColumn("id", "text", unique)
    .addColumn("account", int, account)
    .addColumn("user", int, required)
    .addColumn("revision", int, required)
    .addColumn("definition", "text", required)
    .addColumn("creation", int, required)
    .addColumn("modification", int, required)
    .execute();
  await schema.createIndex("alert_rule_account").on("alert_rule").columns(["account", "key"]).execute();
}

async function createAlert({ schema }: Kysely<Schema>, { int, double, key }: Engine): Promise<void> {
  await schema
    .createTable("alert")
    .addColumn("key", int, key)
    .addColumn("id", "text", unique)
    // No reference: a device goes at once, its alerts and notices by and by; a rule goes, its alerts stay.
    .addColumn("device", int, required)
    .addColumn("rule", int, required)
    .addColumn("rule_id", "text", required)
    .addColumn("name", "text", required)
    .addColumn("type", "text", required)
    .addColumn("phase", "text", required)
    .addColumn("time", int, required)
    .addColumn("raised_at", int, required)
    .addColumn("latitude", double)
    .addColumn("longitude", double)
    .addColumn("speed", double)
    .addColumn("critical", int, required)
    .addColumn("late", int, required)
    .addColumn("facts", "text", required)
    .addColumn("text", "text", required)
    .addColumn("channels", int, required)
    .execute();
  await schema.createIndex("alert_device").on("alert").columns(["device", "time", "key"]).execute();
  // For the deletion of those that are old enough.
  await schema.createIndex("alert_raised").on("alert").column("raised_at").execute();
}

async function createNotice({ schema }: Kysely<Schema>, { int, key }: Engine): Promise<void> {
  await schema
    .createTable("notice")
    .addColumn("key", int, key)
    .addColumn("id", "text", unique)
    .addColumn("alert", "text", required)
    .addColumn("device", int, required)
    .addColumn("channel", "text", required)
    .addColumn("target", "text", required)
    .addColumn("state", "text", required)
    .addColumn("reason", "text")
    .addColumn("creation", int, required)
    .addColumn("due_at", int, required)
    .addColumn("attempts", int, required)
    .addColumn("finished_at", int)
    .addColumn("peer_id", "text")
    .addColumn("counted_day", "text")
    .execute();
  await schema.createIndex("notice_device").on("notice").columns(["device", "key"]).execute();
  // Few notices are open and many are kept: these three hold only the open ones.
  const waits = sql<boolean>`state = 'queued'`;
  await schema.createIndex("notice_due").on("notice").columns(["channel", "due_at", "key"]).where(waits).execute();
  await schema.createIndex("notice_next").on("notice").column("due_at").where(waits).execute();
  const sending = sql<boolean>`state = 'sending'`;
  await schema.createIndex("notice_sending").on("notice").column("key").where(sending).execute();
  const finished = schema.createIndex("notice_finished").on("notice").column("finished_at");
  await finished.where("finished_at", "is not", null).execute();
}
