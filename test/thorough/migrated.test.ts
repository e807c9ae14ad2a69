import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import type { AlertRuleFields } from "../../src/model/alert-rule.ts";
import { first } from "../../src/store/migrations/0001-first.ts";
import { tenants } from "../../src/store/migrations/0002-tenants.ts";
import { alerts } from "../../src/store/migrations/0003-alerts.ts";
import { commandParts } from "../../src/store/migrations/0004-command-parts.ts";
import { shifts } from "../../src/store/migrations/0005-shifts.ts";
import { noticePlaces } from "../../src/store/migrations/0006-notice-places.ts";
import { engine } from "../../src/store/sqlite/engine.ts";
import { geofenceFields, ruleFields } from "../contract/store/alert-values.ts";
import { makeAccount, now } from "../contract/store/harness.ts";
import { backToBlocks } from "../support/older-data.ts";
import { plainSqlite } from "../support/plain-sqlite.ts";
import { openStore } from "../support/store.ts";

/** Rules of an account as the first released version allowed them: 100 MB of webhooks together. */
const rules = 2000;
const corners = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];

test("a folder of the first released version with more rules than the writer's memory holds is brought up to date", async () => {
  const directory = await mkdtemp(join(tmpdir(), "waybeam-migrated-"));
  after(() => rm(directory, { recursive: true }));
  const { rows, file } = plainSqlite(join(directory, "waybeam.db"));
  await rows.schema.createTable("migration").addColumn("number", "integer").addColumn("name", "text").execute();
  for (const [index, migration] of [first, tenants, alerts, commandParts, shifts, noticePlaces].entries()) {
    await migration.up(rows, engine);
    await rows
      .insertInto("migration")
      .values({ number: index + 1, name: migration.name })
      .execute();
  }
  file.exec("insert into account (id, name, time_zone, licenses, creation) values ('a', 'A', 'Etc/UTC', 5, 1)");
  const webhook = Array.from({ length: 20 }, (_, index) => ({
    url: `https://example.com/${"x".repeat(2000)}${index}`,
    secret: "s".repeat(200),
  }));
  const email = [{ to: "Ana@Example.com", language: null, timeZone: null, units: "metric" as const }];
  const conditions = [{ zone: "zone-1", operator: "inside" as const }];
  const definition = JSON.stringify({
    ...ruleFields({ conditions, channels: { email, sms: [], webhook } }),
    ...{ type: "route", parameters: { zones: ["zone-1", "zone-2"] } },
  });
  const insert = file.prepare(
    `insert into alert_rule (id, account, "user", revision, definition, creation, modification) values (?, 1, 1, 1, ?, 1, 1)`,
  );
  file.exec("begin");
  for (let index = 0; index < rules; index++) insert.run(`rule-${index}`, definition);
  file.exec("commit");
  const zones = [
    { kind: "circle", center: [0, 0], radius: 1 },
    { kind: "route", line: [...corners, [2, 2]], width: 1 },
    { kind: "polygon", rings: [corners, corners] },
  ];
  for (const [index, zone] of zones.entries())
    file
      .prepare("insert into geofence (id, account, name, zone, creation, modification) values (?, 1, 'Z', ?, 1, 1)")
      .run(`zone-${index}`, JSON.stringify(zone));
  file.close();

  const store = await openStore(directory);
  const { use } = await store.accounts.quotas(1);
  assert.deepEqual([use.rules, use.webhooks], [rules, 20 * rules]);
  const found = await store.alertRules.find("rule-1999");
  assert.equal(found?.channels.webhook.length, 20);
  for (const zone of ["zone-1", "zone-2"]) assert.equal(await store.alertRules.count(1, { zone }), rules);
  const positions = await Promise.all([0, 1, 4, 5, 8].map((few) => store.geofences.positions(1, few)));
  assert.deepEqual(positions, [1 + 5 + 8, 5 + 8, 5 + 8, 8, 0]);
  await store.close();
  const kept = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  assert.deepEqual(
    kept
      .prepare("select channel, address, state from recipient")
      .all()
      .map((row) => ({ ...row })),
    [{ channel: "email", address: "ana@example.com", state: "confirmed" }],
  );
  kept.close();
});

test("a zone and a rule whose text is damaged keep no folder from being brought up to date", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "waybeam-migrated-"));
  context.after(() => rm(directory, { recursive: true }));
  let store = await openStore(directory);
  const { key } = await makeAccount(store);
  const route = geofenceFields({ zone: { kind: "route", line: [[0, 0]], width: 1 } });
  const named: AlertRuleFields = { ...ruleFields(), type: "route", parameters: { zones: ["whole"] } };
  for (const id of ["damaged", "whole"]) {
    await store.geofences.create(key, id, route, now);
    await store.alertRules.create(key, 1, id, named, now);
  }
  await store.close();
  const file = new DatabaseSync(join(directory, "waybeam.db"));
  backToBlocks(file);
  file.exec(`drop trigger rule_target_changed;
    update geofence set zone = 'x' where id = 'damaged'; update alert_rule set definition = 'x' where id = 'damaged'`);
  file.close();
  store = await openStore(directory);
  assert.equal(await store.geofences.positions(key, 0), 1);
  assert.equal(await store.alertRules.count(key, { zone: "whole" }), 1);
  await store.close();
});
