import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import {
  also,
  bytes,
  double,
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

/** Devices, what follows from their positions, their groups, their links and their commands. */
export async function makeDeviceTables(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "device", {
    key,
    account: also(int, (column) => column.references("account.key")),
    id: unique(text),
    aliases: text,
    name: text,
    description: textOrNull,
    min: textOrNull,
    tags: text,
    expires: intOrNull,
    daily_email_limit: int,
    daily_sms_limit: int,
    odometer_start: double,
    protocols: otherwise(text, "[]"),
    networks: otherwise(text, "[]"),
    secret_hash: textOrNull,
    position_days: intOrNull,
    time_offset: otherwise(int, 0),
    speed_unit: textOrNull,
    spoken: otherwise(text, "[]"),
    creation: int,
    modification: int,
  });
  await makeIndex(database, "device", "account", ["account", "id", "expires"]);
  await makeIndex(database, "device", "expires", ["expires", "key"]);
  const ofDevice = also(int, (column) => column.references("device.key"));
  await makeTable(database, engine, "device_identifier", { identifier: primary(text), device: ofDevice });
  await makeIndex(database, "device_identifier", "device", ["device"]);
  await makeTable(database, engine, "device_results", { device: int, day: text, results: int }, ["device", "day"]);
  await makeTable(database, engine, "device_sent", { device: int, day: text, sms: int, email: int }, ["device", "day"]);
  await makeTable(database, engine, "purge", { device: primary(int) });
  await makeFollowed(database, engine);
  await makeRefused(database, engine);
  await makeGroups(database, engine);
  await makeShares(database, engine);
  await makeCommands(database, engine);
}

// No references from here on: a device goes at once, what it has goes by and by.

async function makeFollowed(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const sum = otherwise(int, 0);
  const sums = { odometer_mm: sum, sensor1_ms: sum, sensor2_ms: sum, sensor3_ms: sum, sensor4_ms: sum };
  await makeTable(database, engine, "device_head", { device: primary(int), ...sums, data: bytes, late: sum });
  await makeIndex(database, "device_head", "late", ["device"], sql<boolean>`late > 0`);
  await makeTable(
    database,
    engine,
    "device_day",
    { device: int, day: int, ...sums, records: int, last: int, data: bytes },
    ["device", "day"],
  );
  // The sums of all days of a device lie together: those of the table lie as they came, a day of all devices after the
  // other.
  await makeIndex(database, "device_day", "sums", [
    "device",
    "day",
    "odometer_mm",
    "sensor1_ms",
    "sensor2_ms",
    "sensor3_ms",
    "sensor4_ms",
    "records",
    "last",
  ]);
}

async function makeRefused(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "refused", {
    seq: key,
    device: int,
    received_at: int,
    time: int,
    cause: text,
    report: text,
  });
  await makeIndex(database, "refused", "device", ["device", "seq"]);
  await makeIndex(database, "refused", "received", ["received_at"]);
  await makeTable(database, engine, "refused_room", {
    device: primary(int),
    bytes: int,
    dropped: int,
    dropped_until: intOrNull,
  });
}

async function makeGroups(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "device_group", {
    key,
    id: unique(text),
    account: also(int, (column) => column.references("account.key")),
    name: text,
    description: textOrNull,
    devices: text,
    creation: int,
    last_modified: int,
  });
  await makeIndex(database, "device_group", "account", ["account", "key"]);
  // Of users a group is asked for by name.
  await makeIndex(database, "device_group", "name", ["account", "name", "key"]);
}

async function makeShares(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "share", {
    key,
    id: unique(text),
    account: int,
    user: int,
    device: intOrNull,
    group_id: textOrNull,
    name: text,
    token_hash: unique(text),
    creation: int,
    expires: int,
  });
  await makeIndex(database, "share", "account", ["account"]);
  await makeIndex(database, "share", "user", ["user"]);
  await makeIndex(database, "share", "group", ["group_id"]);
  await makeIndex(database, "share", "device", ["device"]);
  // For the deletion of those that have ended.
  await makeIndex(database, "share", "expires", ["expires"]);
}

async function makeCommands(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "command", {
    key,
    id: unique(text),
    device: int,
    user: int,
    user_name: text,
    channel: text,
    format: text,
    command: text,
    encode: int,
    state: text,
    creation: int,
    expires: int,
    sent_at: intOrNull,
    finished_at: intOrNull,
    reply: textOrNull,
    failure: textOrNull,
    idempotency_key: textOrNull,
    owner: otherwise(text, ""),
  });
  await makeIndex(database, "command", "device", ["device", "key"]);
  // Few commands wait and many are kept: these two hold only those that wait.
  const waits = sql<boolean>`state = 'queued'`;
  await makeIndex(database, "command", "queued", ["device", "key"], waits);
  await makeIndex(database, "command", "expires", ["expires"], waits);
  // Nulls are never equal here, so commands without a key stand beside each other.
  const idempotency = database.schema.createIndex("command_idempotency").on("command");
  await idempotency.columns(["device", "user", "idempotency_key"]).unique().execute();
  await makeTable(
    database,
    engine,
    "command_part",
    { command: int, part: int, sms_id: textOrNull, delivered: intOrNull },
    ["command", "part"],
  );
  await makeIndex(database, "command_part", "sms", ["sms_id", "command"], sql<boolean>`sms_id is not null`);
}
