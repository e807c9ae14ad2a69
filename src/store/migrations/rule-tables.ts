import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { int, makeIndex, makeTable, text } from "./columns.ts";
import type { Engine, Refusal } from "./migration.ts";
import { limitOf } from "./quotas.ts";
import { makeTrigger } from "./triggers.ts";

/**
 * What rules watch, and which zones they name: kept by triggers. They are two tables, because the quota of rules counts
 * what stands in the first one.
 */
export async function makeRuleTables(database: Kysely<Schema>, engine: Engine): Promise<void> {
  await makeTable(database, engine, "rule_target", { account: int, target: text, rule: int });
  await makeIndex(database, "rule_target", "target", ["account", "target", "rule"]);
  await makeIndex(database, "rule_target", "rule", ["rule"]);
  await makeTable(database, engine, "rule_zone", { account: int, zone: text, rule: int });
  await makeIndex(database, "rule_zone", "zone", ["account", "zone", "rule"]);
  await makeIndex(database, "rule_zone", "rule", ["rule"]);
  await createTargets(database, engine);
  await createZones(database, engine);
}

/** The rows of what a rule watches; a rule that names a device twice watches it once. */
function targetsOf(row: string): string {
  const part = (mark: string, list: string) =>
    `select ${row}.account, '${mark}' || json_each.value, ${row}."key" from json_each(${row}.definition, '$.${list}')`;
  return `${part("d", "devices")} union ${part("g", "groups")}`;
}

/**
 * Keeps `rule_target`. What a rule watched before it changed is no news, so that one that is over the quota can still
 * be changed.
 */
async function createTargets(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const table = "alert_rule";
  const insert = `insert into rule_target ${targetsOf("new")}`;
  const gone = `delete from rule_target where rule = old."key"`;
  const few = (added: string): Refusal => ({
    refuse: "quota rulesOfDevice",
    when: `exists (
    select 1 from rule_target as own where own.rule = new."key" ${added} and
      (select count(*) from rule_target as other where other.account = own.account and other.target = own.target)
        > ${limitOf("own.account", "rules_of_device")})`,
  });
  const before = targetsOf("old").replaceAll(/select old\.account, (.*?), old\."key"/g, "select $1");
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

async function createZones(database: Kysely<Schema>, engine: Engine): Promise<void> {
  const table = "alert_rule";
  const made = `insert into rule_zone ${zonesOf("new")}`;
  const gone = `delete from rule_zone where rule = old."key"`;
  await makeTrigger(database, engine, { name: "rule_zone_made", table, after: "insert", steps: [made] });
  const changed = { name: "rule_zone_changed", table, after: "update of definition", steps: [gone, made] };
  await makeTrigger(database, engine, changed);
  await makeTrigger(database, engine, { name: "rule_zone_removed", table, after: "delete", steps: [gone] });
}

/** The rows of the zones that a rule names, in its parameters and its conditions; one that it names twice has one. */
function zonesOf(row: string): string {
  const part = (list: string, zone: string) =>
    `select ${row}.account, ${zone}, ${row}."key" from json_each(${row}.definition, '$.${list}') where ${zone} is not null`;
  return `${part("parameters.zones", "json_each.value")} union ${part("conditions", "json_extract(json_each.value, '$.zone')")}`;
}
