import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { Migration } from "./migration.ts";

/** Which zones rules name, kept by triggers as `rule_target` keeps what they watch. It is a table of its own, because the quota of rules counts what stands in that one. */
export const ruleZones: Migration = {
  name: "zones of rules",
  async up(database, { int }) {
    const { schema } = database;
    await schema
      .createTable("rule_zone")
      .addColumn("account", int, (column) => column.notNull())
      .addColumn("zone", "text", (column) => column.notNull())
      .addColumn("rule", int, (column) => column.notNull())
      .execute();
    await schema.createIndex("rule_zone_zone").on("rule_zone").columns(["account", "zone", "rule"]).execute();
    await schema.createIndex("rule_zone_rule").on("rule_zone").column("rule").execute();
    const made = `insert into rule_zone ${zonesOf("new", "from")};`;
    const gone = `delete from rule_zone where rule = old."key";`;
    await run(database, `create trigger rule_zone_made after insert on alert_rule begin ${made} end`);
    await run(
      database,
      `create trigger rule_zone_changed after update of definition on alert_rule begin ${gone} ${made} end`,
    );
    await run(database, `create trigger rule_zone_removed after delete on alert_rule begin ${gone} end`);
    // A rule whose text is damaged names none, so that it keeps no service from starting.
    const readable = "case when json_valid(own.definition) then own.definition end";
    await run(database, `insert into rule_zone ${zonesOf("own", "from alert_rule as own,", readable)}`);
  },
};

/** The rows of the zones that a rule names, in its parameters and its conditions; one that it names twice has one. */
function zonesOf(row: string, from: string, definition = `${row}.definition`): string {
  const part = (list: string, zone: string) =>
    `select ${row}.account, ${zone}, ${row}."key" ${from} json_each(${definition}, '$.${list}') where ${zone} is not null`;
  return `${part("parameters.zones", "json_each.value")} union ${part("conditions", "json_extract(json_each.value, '$.zone')")}`;
}

function run(database: Kysely<Schema>, statement: string): Promise<unknown> {
  return sql.raw(statement).execute(database);
}
