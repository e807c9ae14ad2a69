import { sql } from "kysely";
import type { Migration } from "./migration.ts";
import { makeTrigger } from "./triggers.ts";

/** Which zones rules name, kept by triggers as `rule_target` keeps what they watch. It is a table of its own, because the quota of rules counts what stands in that one. */
export const ruleZones: Migration = {
  name: "zones of rules",
  async up(database, engine) {
    const { schema } = database;
    const { int } = engine;
    await schema
      .createTable("rule_zone")
      .addColumn("account", int, (column) => column.notNull())
      .addColumn("zone", "text", (column) => column.notNull())
      .addColumn("rule", int, (column) => column.notNull())
      .execute();
    await schema.createIndex("rule_zone_zone").on("rule_zone").columns(["account", "zone", "rule"]).execute();
    await schema.createIndex("rule_zone_rule").on("rule_zone").column("rule").execute();
    const table = "alert_rule";
    const made = `insert into rule_zone ${zonesOf("new", "from")}`;
    const gone = `delete from rule_zone where rule = old."key"`;
    await makeTrigger(database, engine, { name: "rule_zone_made", table, after: "insert", steps: [made] });
    await makeTrigger(database, engine, {
      name: "rule_zone_changed",
      table,
      after: "update of definition",
      steps: [gone, made],
    });
    await makeTrigger(database, engine, { name: "rule_zone_removed", table, after: "delete", steps: [gone] });
    // A rule whose text is damaged names none, so that it keeps no service from starting.
    const readable = "case when json_valid(own.definition) then own.definition end";
    await sql.raw(`insert into rule_zone ${zonesOf("own", "from alert_rule as own,", readable)}`).execute(database);
  },
};

/** The rows of the zones that a rule names, in its parameters and its conditions; one that it names twice has one. */
function zonesOf(row: string, from: string, definition = `${row}.definition`): string {
  const part = (list: string, zone: string) =>
    `select ${row}.account, ${zone}, ${row}."key" ${from} json_each(${definition}, '$.${list}') where ${zone} is not null`;
  return `${part("parameters.zones", "json_each.value")} union ${part("conditions", "json_extract(json_each.value, '$.zone')")}`;
}
