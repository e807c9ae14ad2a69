import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import {
  also,
  doubleOrNull,
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

/** Zones, rules, what these found, the outbox, and what keeps people from being told. */
export async function makeAlertTables(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const account = also(int, (column) => column.references("account.key"));
  await makeTable(database, engine, "geofence", {
    key,
    id: unique(text),
    account,
    name: text,
    description: textOrNull,
    zone: text,
    positions: otherwise(int, 0),
    creation: int,
    modification: int,
  });
  await makeIndex(database, "geofence", "account", ["account", "key"]);
  // The sum over an account's large zones is read from it, and no zone is read for that.
  await makeIndex(database, "geofence", "positions", ["account", "positions"]);
  await makeTable(database, engine, "alert_rule", {
    key,
    id: unique(text),
    account,
    user: int,
    revision: int,
    definition: text,
    webhooks: otherwise(int, 0),
    creation: int,
    modification: int,
  });
  await makeIndex(database, "alert_rule", "account", ["account", "key"]);
  await makeAlerts(database, engine);
  await makeNotices(database, engine);
  await makeMutes(database, engine);
}

async function makeAlerts(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "alert", {
    key,
    id: unique(text),
    // No reference: a device goes at once, its alerts and notices by and by; a rule goes, its alerts stay.
    device: int,
    rule: int,
    rule_id: text,
    name: text,
    type: text,
    phase: text,
    time: int,
    subject: text,
    raised_at: int,
    latitude: doubleOrNull,
    longitude: doubleOrNull,
    speed: doubleOrNull,
    critical: int,
    late: int,
    facts: text,
    text,
    channels: int,
    account: intOrNull,
    state: int,
    ended_at: intOrNull,
    acknowledged_at: intOrNull,
    acknowledged_by: textOrNull,
    acknowledged_note: textOrNull,
    closed_at: intOrNull,
    closed_by: textOrNull,
    closed_note: textOrNull,
  });
  await makeIndex(database, "alert", "device", ["device", "time", "key"]);
  // What was found once is written once, whoever finds it again.
  const found = database.schema.createIndex("alert_once").on("alert");
  await found.columns(["device", "rule", "time", "phase", "subject"]).unique().execute();
  // For the deletion of those that are old enough.
  await makeIndex(database, "alert", "raised", ["raised_at"]);
  // The lists of a whole account have an index for each thing that few of its alerts may be.
  await makeIndex(database, "alert", "account", ["account", "time", "key"]);
  await makeIndex(database, "alert", "type", ["account", "type", "time", "key"]);
  await makeIndex(database, "alert", "of_rule", ["rule", "time", "key"]);
  await makeIndex(database, "alert", "found", ["account", "key"]);
  await makeIndex(database, "alert", "critical", ["account", "time", "key"], sql<boolean>`critical = 1`);
  // Few are open and many are kept, so these are small.
  const isOpen = sql<boolean>`state < 2`;
  const ofOpen = ["account", "time", "key", "state", "critical", "rule", "type", "device"] as const;
  await makeIndex(database, "alert", "open", ofOpen, isOpen);
  await makeIndex(database, "alert", "open_rule", ["device", "rule"], isOpen);
  await makeIndex(database, "alert", "open_found", ["raised_at"], isOpen);
}

async function makeNotices(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "notice", {
    key,
    id: unique(text),
    alert: text,
    device: int,
    channel: text,
    target: text,
    state: text,
    reason: textOrNull,
    creation: int,
    due_at: int,
    attempts: int,
    finished_at: intOrNull,
    peer_id: textOrNull,
    counted_day: textOrNull,
    counted_places: otherwise(int, 1),
    resends: otherwise(int, 0),
    owner: otherwise(text, ""),
    lease: otherwise(int, 0),
  });
  await makeIndex(database, "notice", "device", ["device", "key"]);
  // Few notices are open and many are kept: these three hold only the open ones.
  const waits = sql<boolean>`state = 'queued'`;
  await makeIndex(database, "notice", "due", ["channel", "due_at", "key"], waits);
  await makeIndex(database, "notice", "next", ["due_at"], waits);
  await makeIndex(database, "notice", "sending", ["key"], sql<boolean>`state = 'sending'`);
  await makeIndex(database, "notice", "finished", ["finished_at"], sql<boolean>`finished_at is not null`);
  await makeTable(database, engine, "notice_pause", { subject: primary(text), data: text, asked_at: int });
  // For the deletion of those that nobody needs any more.
  await makeIndex(database, "notice_pause", "asked", ["asked_at"]);
}

async function makeMutes(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "mute", {
    key,
    account: int,
    device: unique(intOrNull),
    rule: unique(textOrNull),
    since: int,
    until: int,
    user: text,
    note: textOrNull,
    critical: int,
  });
  await makeIndex(database, "mute", "account", ["account", "key"]);
  // For the deletion of mutes that have ended.
  await makeIndex(database, "mute", "until", ["until"]);
}
