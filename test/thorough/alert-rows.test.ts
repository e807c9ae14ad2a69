import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type SqlBool, sql } from "kysely";
import { migrate } from "../../src/store/migrations/migrations.ts";
import { AlertRuleRows } from "../../src/store/rows/alert-rules.ts";
import { AlertRows, alertRow } from "../../src/store/rows/alerts.ts";
import { DeviceRows } from "../../src/store/rows/devices.ts";
import { GeofenceRows } from "../../src/store/rows/geofences.ts";
import { CrowdedNotices } from "../../src/store/rows/notice-room.ts";
import { NoticeRows, noticeRow } from "../../src/store/rows/notices.ts";
import type { RunTogether } from "../../src/store/rows/statement-groups.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { engine } from "../../src/store/sqlite/engine.ts";
import { commitAlerts, geofenceFields, newAlert, newNotice, ruleFields, sms } from "../contract/store/alert-values.ts";
import { deviceFields, makeAccount, makeDevice, now } from "../contract/store/harness.ts";
import { plainSqlite, withoutIndex } from "../support/plain-sqlite.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore as open } from "../support/store.ts";

/** What can only be seen behind the store's back. */
describe("alerts, rules and notices in SQLite", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "waybeam-alert-rows-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("are found by an index, in the order of an index, by every question that may meet many", async () => {
    const statements = new Set<string>();
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"), (sql) => statements.add(sql));
    await migrate(rows, engine);
    file.exec(
      "insert into account (id, name, time_zone, licenses, language, creation) values ('a', 'A', 'Etc/UTC', 5, 'en', 1)",
    );
    const device = await new DeviceRows(rows, { add() {}, doubt() {} }).create(1, deviceFields(), now);
    assert.ok(typeof device !== "string");
    const alert = newAlert(device.key, 1);
    await rows.insertInto("alert").values(alertRow(alert)).execute();
    await rows
      .insertInto("notice")
      .values(noticeRow(newNotice(alert), openVault))
      .execute();
    const others = device.key + 1;
    const ended = newNotice(newAlert(others, 1), { state: "suppressed", reason: "r" });
    const both = [newNotice(newAlert(others, 1), { target: sms }), ended].map((notice) => noticeRow(notice, openVault));
    await rows.insertInto("notice").values(both).execute();
    statements.clear();
    await askRules(new AlertRuleRows(rows, openVault, silentLog), new GeofenceRows(rows));
    const together: RunTogether = async (steps) => {
      const changed: number[] = [];
      for (const step of steps) changed.push(Number((await rows.executeQuery(step)).numAffectedRows ?? 0n));
      return changed;
    };
    const owner = { name: "run", hasEnded: sql<SqlBool>`false` };
    const notices = new NoticeRows(rows, { vault: openVault, crowded: new CrowdedNotices(10), together, owner });
    await askAlerts(new AlertRows(rows), notices, device.key);
    const crowded = new CrowdedNotices(0);
    crowded.made(others, 2);
    const [queued] = (await crowded.makeRoom(rows, now)).givenUp;
    assert.deepEqual(queued, { device: others, channel: "sms" });
    assert.ok(statements.size > 30, `${statements.size} statements`);
    assert.deepEqual(withoutIndex(file, statements), []);
    // What counts all that wait reads none of their rows.
    const counts = [...statements].filter((sql) => sql.startsWith("select count(*)") && sql.includes('from "notice"'));
    assert.equal(counts.length, 1);
    const [step] = file.prepare(`explain query plan ${counts[0]}`).all();
    assert.match(String(step?.detail), /COVERING INDEX/);
    await rows.destroy();
  });

  it("of a removed device are deleted in the background, also after a restart", async () => {
    let store = await open(directory);
    const account = await makeAccount(store);
    const devices = [await makeDevice(store, account.key), await makeDevice(store, account.key)];
    for (const { key } of devices) {
      const alerts = Array.from({ length: 2500 }, (_, index) => newAlert(key, index));
      await commitAlerts(
        store,
        key,
        alerts,
        alerts.map((alert) => newNotice(alert)),
      );
    }
    const [gone, kept] = devices.map(({ key }) => key);
    assert.ok(gone !== undefined && kept !== undefined);
    await store.devices.remove(gone);
    await store.close();
    const { rows } = plainSqlite(join(directory, "waybeam.db"));
    const left = async (table: "alert" | "notice", device: number) =>
      (await rows.selectFrom(table).select("key").where("device", "=", device).execute()).length;
    assert.ok((await left("notice", gone)) > 0, "the store was closed at once");
    store = await open(directory);
    while ((await rows.selectFrom("purge").selectAll().execute()).length > 0) await sleep(10);
    for (const table of ["alert", "notice"] as const)
      assert.deepEqual([await left(table, gone), await left(table, kept)], [0, 2500]);
    await store.close();
    await rows.destroy();
  });
});

/** Each question but the one for the accounts that have rules. */
async function askRules(rules: AlertRuleRows, geofences: GeofenceRows): Promise<void> {
  const rule = await rules.create(1, 1, "r", ruleFields(), now);
  await rules.find("r");
  await rules.list(1);
  for (const named of [undefined, { zone: "z" }, { watched: [{ device: "d" }, { group: "g" }] }])
    await rules.page(1, { limit: 5, bytes: 5 }, named);
  await rules.count(1, { zone: "z" });
  await rules.count(1, { watched: [{ device: "d" }] });
  await rules.replace(rule.key, 1, rule, now);
  const change = { remove: [rule.key], replace: [], create: [{ id: "s", fields: ruleFields() }] };
  await rules.exchange(1, 1, change, now);
  await rules.remove(rule.key);
  const geofence = await geofences.create(1, "z", geofenceFields(), now);
  await geofences.find("z");
  await geofences.list(1);
  await geofences.page(1, { limit: 5, bytes: 5 });
  await geofences.positions(1, 50, geofence.key);
  await geofences.replace(geofence.key, geofence, now);
  await geofences.remove(geofence.key);
}

async function askAlerts(alerts: AlertRows, notices: NoticeRows, device: number): Promise<void> {
  const range = { from: 0, to: now * 2, limit: 5 };
  await alerts.list(device, range);
  await alerts.list(device, { ...range, after: { time: 1, key: 1 }, name: "Speed" });
  await alerts.find("a");
  const [notice] = (await notices.due("email", now, { limit: 5 })).notices;
  await notices.due("email", now, { limit: 5, after: { dueAt: 0, key: 0 } });
  await notices.due("email", now, { limit: 5, after: { dueAt: 0, key: 0 }, ofAccount: () => true });
  assert.ok(notice !== undefined);
  await notices.nextDue();
  await notices.backlog();
  await notices.postpone([notice.key], now);
  const key = notice.key;
  await notices.claim(0, now, undefined);
  const places = { day: "2026-11-21", limit: 1 };
  assert.equal(await notices.claim(key, now, places), "claimed");
  const queued = [await notices.renew(0, [key]), await notices.renew(0, []), await notices.renew(0, [])];
  assert.deepEqual(queued, [0, 0, 1]);
  assert.equal(await notices.claim(key, now, { ...places, day: "2026-11-22" }), "claimed");
  await notices.finish(key, { state: "queued", reason: null, peerId: null, dueAt: now, untried: true }, now);
  assert.equal(await notices.claim(key, now, { day: "2026-11-23", limit: 0 }), "limit");
  await notices.resend(key, now, 9);
  await notices.claim(key, now, places);
  await notices.finish(key, { state: "failed", reason: null, peerId: null, dueAt: 0 }, now);
  await notices.resend(key, now, 9);
  await notices.claim(key, now, places);
  await notices.finish(key, { state: "sent", reason: null, peerId: null, dueAt: 0 }, now);
  await notices.list(device, { limit: 5 });
  await notices.list(device, { limit: 5, after: 7, states: ["sent", "failed"] });
  await notices.find(device, notice.id);
  await notices.prune(now + 1, 5);
  await alerts.prune(now * 2, 5);
}
