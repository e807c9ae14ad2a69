import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { int, intOrNull, makeTable, primary } from "./columns.ts";
import type { Engine, Refusal } from "./migration.ts";
import { makeTrigger } from "./triggers.ts";

/** What is counted: a table, the columns whose texts can be long, and the counter of its rows. */
const counted = [
  {
    table: "user",
    texts: ["name", "description", "message", "disabled_message", "tags", "privileges"],
    count: "users",
  },
  { table: "device_group", texts: ["name", "description", "devices"], count: "groups" },
  { table: "geofence", texts: ["name", "description", "zone"], count: "geofences" },
  { table: "alert_rule", texts: ["definition"], count: "rules" },
] as const;
type Counted = (typeof counted)[number];

/** Of a row beside its texts. */
const rowBytes = 200;

/**
 * What accounts have and may have. Triggers count, so that whoever writes a row counts it, in the same transaction, and
 * nobody has to look at the other rows; they refuse what goes beyond, by a failure that is called `quota` and its name.
 * Row 0 of `account_quota` has the settings, which the start writes. An account that has too much already keeps it, and
 * may change it to less.
 */
export async function makeQuotas(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const use = {
    users: int,
    groups: int,
    geofences: int,
    rules: int,
    webhooks: int,
    bytes: int,
    devices: int,
    identifiers: int,
  };
  await makeTable(database, engine, "account_use", { account: primary(int), ...use });
  await makeTable(database, engine, "account_quota", {
    account: primary(int),
    users: intOrNull,
    groups: intOrNull,
    geofences: intOrNull,
    rules: intOrNull,
    rules_of_device: intOrNull,
    webhooks: intOrNull,
    bytes: intOrNull,
  });
  for (const each of counted) await createTriggers(database, engine, each);
  await makeTrigger(database, engine, {
    name: "account_use_made",
    table: "account",
    after: "insert",
    steps: [
      `insert into account_use (account, users, "groups", geofences, rules, webhooks, bytes, devices, identifiers) values (new."key", 0, 0, 0, 0, 0, 0, 0, 0)`,
    ],
  });
  await countDevices(database, engine);
}

/** Licences limit devices and their identifiers. Here they are only counted: an account may have millions. */
async function countDevices(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const count = (name: string, sign: string, account: string) =>
    `update account_use set "${name}" = "${name}" ${sign} 1 where account = ${account}`;
  const ofDevice = (row: string) => `(select account from device where "key" = ${row}.device)`;
  for (const { table, name, account } of [
    { table: "device", name: "devices", account: (row: string) => `${row}.account` },
    { table: "device_identifier", name: "identifiers", account: ofDevice },
  ] as const) {
    const made = [count(name, "+", account("new"))];
    const removed = [count(name, "-", account("old"))];
    await makeTrigger(database, engine, { name: `${table}_use_made`, table, after: "insert", steps: made });
    await makeTrigger(database, engine, { name: `${table}_use_removed`, table, after: "delete", steps: removed });
  }
}

function bytesOf(row: string, texts: readonly string[]): string {
  return [String(rowBytes), ...texts.map((column) => `coalesce(octet_length(${row}."${column}"), 0)`)].join(" + ");
}

function webhooksOf(row: string): string {
  return `${row}.webhooks`;
}

/** What an account may have of something, as SQL. */
export function limitOf(account: string, quota: string): string {
  return `coalesce((select "${quota}" from account_quota where account = ${account}), (select "${quota}" from account_quota where account = 0))`;
}

/** Refuses where the account has more than it may. Where nothing says how much that is, the condition is null. */
function check(count: string, when = "true"): Refusal {
  const much = `(select "${count}" from account_use where account = new.account) > ${limitOf("new.account", count)}`;
  return { refuse: `quota ${count}`, when: `${when} and ${much}` };
}

async function createTriggers(
  database: Kysely<Schema>,
  engine: Engine,
  { table, texts, count }: Counted,
): Promise<void> {
  const hooks = table === "alert_rule";
  const add = (row: string, sign: string) =>
    `"${count}" = "${count}" ${sign} 1, bytes = bytes ${sign} (${bytesOf(row, texts)})${hooks ? `, webhooks = webhooks ${sign} ${webhooksOf(row)}` : ""}`;
  await makeTrigger(database, engine, {
    name: `${table}_use_made`,
    table,
    after: "insert",
    steps: [
      `update account_use set ${add("new", "+")} where account = new.account`,
      check(count),
      ...(hooks ? [check("webhooks", `${webhooksOf("new")} > 0`)] : []),
      check("bytes"),
    ],
  });
  // A rule that the service itself rewrites, since it seals its secrets, is not refused for being larger.
  await makeTrigger(database, engine, {
    name: `${table}_use_changed`,
    table,
    after: `update of ${[...texts, ...(hooks ? ["webhooks"] : [])].map((column) => `"${column}"`).join(", ")}`,
    steps: [
      `update account_use set bytes = bytes + (${bytesOf("new", texts)}) - (${bytesOf("old", texts)})
        ${hooks ? `, webhooks = webhooks + ${webhooksOf("new")} - ${webhooksOf("old")}` : ""} where account = new.account`,
      ...(hooks ? [check("webhooks", `${webhooksOf("new")} > ${webhooksOf("old")}`)] : []),
      check(
        "bytes",
        `(${bytesOf("new", texts)}) > (${bytesOf("old", texts)})${hooks ? " and new.revision > old.revision" : ""}`,
      ),
    ],
  });
  await makeTrigger(database, engine, {
    name: `${table}_use_removed`,
    table,
    after: "delete",
    steps: [`update account_use set ${add("old", "-")} where account = old.account`],
  });
}
