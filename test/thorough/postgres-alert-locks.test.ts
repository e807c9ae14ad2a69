import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { sql } from "kysely";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { commitAlerts, newAlert, newNotice, webhook } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice, now } from "../contract/store/harness.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";

it("the ends of notices and acknowledgements of their alerts lock rows in the same order", {
  skip: noPostgres,
}, async () => {
  const server = await PostgresServer.start({ settings: [["deadlock_timeout", "100ms"]] });
  const store = await openPostgresRows(await server.database(), { log: silentLog });
  const { tables, alerts, notices } = store;
  const device = (await makeDevice(store, (await makeAccount(store)).key)).key;
  const made = [1, 2].map((seconds) => newAlert(device, seconds));
  for (const alert of made) await commitAlerts(store, device, [alert], [newNotice(alert, { target: webhook })]);
  const [second, first] = await notices.list(device, { limit: 2 });
  assert.ok(first !== undefined && second !== undefined);
  for (const { key } of [first, second]) assert.equal(await notices.claim(key, now, undefined), "claimed");
  const keys = await Promise.all(made.map(async ({ id }) => (await alerts.find(id))?.key ?? 0));
  /** Resolves when `count` sessions wait for a lock. */
  const waiting = async (count: number) => {
    const asked = sql<{
      waits: number;
    }>`select count(*)::int as waits from pg_stat_activity where wait_event_type = 'Lock'`;
    while (((await asked.execute(tables)).rows[0]?.waits ?? 0) < count)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const sent = { state: "sent", reason: null, peerId: null, dueAt: 0 } as const;
  let ends: Promise<readonly string[]> | undefined;
  let acknowledged: Promise<void> | undefined;
  // While this transaction holds the second notice, the group has locked the first one and waits.
  await tables.transaction().execute(async (transaction) => {
    const held = transaction.updateTable("notice").set({ peer_id: "held" }).where("key", "=", second.key);
    await held.execute();
    ends = Promise.all([second, first].map(({ key }) => notices.finish(key, sent, now)));
    await waiting(1);
    acknowledged = alerts.acknowledge(keys, { at: now, user: "ana@example.org", note: null });
    await waiting(2);
  });
  assert.deepEqual(await ends, ["recorded", "recorded"]);
  await acknowledged;
  for (const { id } of made) {
    const alert = await alerts.find(id);
    assert.deepEqual([alert?.handling.state, alert?.channels], ["acknowledged", ["webhook"]]);
  }
  await store.close();
  await server.stop();
  assert.doesNotMatch(readFileSync(server.log, "utf8"), /deadlock detected/);
});
