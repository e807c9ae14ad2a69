import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import {
  also,
  int,
  intOrNull,
  key,
  makeIndex,
  makeTable,
  otherwise,
  primary,
  text,
  textOrNull,
  unique,
} from "./columns.ts";
import type { Engine } from "./migration.ts";

/**
 * Accounts, what they may have and what they sent; users, and how they come in; people outside whom rules name;
 * settings.
 */
export async function makeAccountTables(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "account", {
    key,
    id: unique(text),
    name: text,
    time_zone: text,
    licenses: int,
    language: text,
    creation: int,
    daily_emails: intOrNull,
    daily_sms: intOrNull,
    device_daily_emails: intOrNull,
    device_daily_sms: intOrNull,
    unconfirmed_recipients: intOrNull,
    position_days: intOrNull,
  });
  await makeTable(database, engine, "account_sent", { account: int, day: text, sms: int, email: int }, [
    "account",
    "day",
  ]);
  await makeTable(database, engine, "setting", { name: primary(text), value: text });
  await makeUsers(database, engine);
  await makeWaysIn(database, engine);
  await makeRecipients(database, engine);
}

async function makeUsers(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "user", {
    key,
    id: unique(text),
    account: also(int, (column) => column.references("account.key")),
    owner: int,
    name: text,
    email: text,
    email_lower: unique(text),
    country: text,
    time_zone: text,
    description: textOrNull,
    message: textOrNull,
    disabled: int,
    disabled_message: textOrNull,
    tags: text,
    privileges: text,
    group_name: textOrNull,
    device_id: textOrNull,
    admin_devices: intOrNull,
    valid_from: intOrNull,
    expires: intOrNull,
    password_hash: textOrNull,
    password_signs_in: otherwise(int, 0),
    api_key_hash: textOrNull,
    api_key_id: textOrNull,
    creation: int,
    modification: int,
    last_login: intOrNull,
  });
  await makeIndex(database, "user", "account", ["account", "key"]);
  await makeTable(database, engine, "user_usage", { user: int, day: text, requests: int }, ["user", "day"]);
}

async function makeWaysIn(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "sign_in", {
    key,
    user: int,
    token_hash: unique(text),
    creation: int,
    seen: int,
    expires: int,
    address: text,
    browser: text,
  });
  await makeIndex(database, "sign_in", "user", ["user"]);
  // For the deletion of those that have ended.
  await makeIndex(database, "sign_in", "expires", ["expires"]);
  await makeTable(database, engine, "second_factor", {
    user: primary(int),
    secret: text,
    confirmed: int,
    last_step: int,
    recovery: text,
  });
}

async function makeRecipients(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "recipient", {
    key,
    id: unique(text),
    account: int,
    channel: text,
    address: text,
    state: text,
    code_hash: textOrNull,
    code_expires: intOrNull,
    wrong: int,
    asked_day: textOrNull,
    asked: int,
    creation: int,
    modification: int,
  });
  const ofAddress = database.schema.createIndex("recipient_address").on("recipient");
  await ofAddress.columns(["account", "channel", "address"]).unique().execute();
  await makeIndex(database, "recipient", "of_address", ["channel", "address"]);
}
