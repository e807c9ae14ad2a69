import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Migration, Refusal } from "./migration.ts";
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
 * What accounts have and may have. Triggers count, so that whoever writes a row counts it, in the same transaction, and nobody has to look at the other rows; they refuse what goes
 * beyond, by a failure that is called `quota` and its name. Row 0 of `account_quota` has the settings, which the start writes. An account that has too much already
 * keeps it, and may change it to less.
 */
export const quotas: Migration = {
  name: "quotas",
  async up(database, engine) {
    await createTables(database, engine);
    // The rows' writer sets it, for the webhooks themselves may be sealed.
    await database.schema
      .alterTable("alert_rule")
      .addColumn("webhooks", engine.int, (column) => column.notNull().defaultTo(0))
      .execute();
    await run(
      database,
      `update alert_rule set webhooks = coalesce(json_array_length(definition, '$.channels.webhook'), 0)`,
    );
    for (const each of counted) await createTriggers(database, engine, each);
    await createTargets(database, engine);
    await sql`insert into account_use (account, users, "groups", geofences, rules, webhooks, bytes) select "key", 0, 0, 0, 0, 0, 0 from account`.execute(
      database,
    );
    await makeTrigger(database, engine, {
      name: "account_use_made",
      table: "account",
      after: "insert",
      steps: [
        `insert into account_use (account, users, "groups", geofences, rules, webhooks, bytes) values (new."key", 0, 0, 0, 0, 0, 0)`,
      ],
    });
    for (const { table, texts, count } of counted)
      await run(
        database,
        `update account_use set
          "${count}" = (select count(*) from "${table}" as own where own.account = account_use.account),
          bytes = bytes + (select coalesce(sum(${bytesOf("own", texts)}), 0) from "${table}" as own where own.account = account_use.account)`,
      );
    await run(
      database,
      `update account_use set webhooks =
        (select coalesce(sum(${webhooksOf("own")}), 0) from alert_rule as own where own.account = account_use.account)`,
    );
    await run(database, `insert into rule_target ${targetsOf("own", "from alert_rule as own,")}`);
  },
};

function run(database: Kysely<Schema>, statement: string): Promise<unknown> {
  return sql.raw(statement).execute(database);
}

async function createTables({ schema }: Kysely<Schema>, { int }: Engine): Promise<void> {
  const columns = ["users", "groups", "geofences", "rules", "webhooks", "bytes"] as const;
  let use = schema.createTable("account_use").addColumn("account", int, (column) => column.primaryKey());
  let quota = schema.createTable("account_quota").addColumn("account", int, (column) => column.primaryKey());
  for (const name of columns) {
    use = use.addColumn(name, int, (column) => column.notNull());
    // Null: as the settings say.
    quota = quota.addColumn(name, int);
  }
  await use.execute();
  await quota.addColumn("rules_of_device", int).execute();
  await schema
    .createTable("rule_target")
    .addColumn("account", int, (column) => column.notNull())
    // `d` and the id of a device, or `g` and that of a group.
    .addColumn("target", "text", (column) => column.notNull())
    .addColumn("rule", int, (column) => column.notNull())
    .execute();
  await schema.createIndex("rule_target_target").on("rule_target").columns(["account", "target", "rule"]).execute();
  await schema.createIndex("rule_target_rule").on("rule_target").column("rule").execute();
  // Of users a group is asked for by name.
  await schema.createIndex("device_group_name").on("device_group").columns(["account", "name", "key"]).execute();
}

function bytesOf(row: string, texts: readonly string[]): string {
  return [String(rowBytes), ...texts.map((column) => `coalesce(octet_length(${row}."${column}"), 0)`)].join(" + ");
}

function webhooksOf(row: string): string {
  return `${row}.webhooks`;
}

/** The rows of what a rule watches; a rule that names a device twice watches it once. */
function targetsOf(row: string, from: string): string {
  const part = (mark: string, list: string) =>
    `select ${row}.account, '${mark}' || json_each.value, ${row}."key" ${from} json_each(${row}.definition, '$.${list}')`;
  return `${part("d", "devices")} union ${part("g", "groups")}`;
}

function limitOf(account: string, quota: string): string {
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

/** Keeps `rule_target`. What a rule watched before it changed is no news, so that one that is over the quota can still be changed. */
async function createTargets(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const table = "alert_rule";
  const insert = `insert into rule_target ${targetsOf("new", "from")}`;
  const gone = `delete from rule_target where rule = old."key"`;
  const few = (added: string): Refusal => ({
    refuse: "quota rulesOfDevice",
    when: `exists (
    select 1 from rule_target as own where own.rule = new."key" ${added} and
      (select count(*) from rule_target as other where other.account = own.account and other.target = own.target)
        > ${limitOf("own.account", "rules_of_device")})`,
  });
  const before = targetsOf("old", "from").replaceAll(/select old\.account, (.*?), old\."key"/g, "select $1");
  await makeTrigger(database, engine, {
    name: "rule_target_made",
    table,
    after: "insert",
    steps: [insert, few("")],
  });
  await makeTrigger(database, engine, {
    name: "rule_target_changed",
    table,
    after: "update of definition",
    steps: [gone, insert, few(`and own.target not in (${before})`)],
  });
  await makeTrigger(database, engine, { name: "rule_target_removed", table, after: "delete", steps: [gone] });
}
