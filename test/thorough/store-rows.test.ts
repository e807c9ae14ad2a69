import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../src/store/migrations/migrations.ts";
import { AccountRows } from "../../src/store/rows/accounts.ts";
import { CommandRows } from "../../src/store/rows/commands.ts";
import { DailyRows } from "../../src/store/rows/daily.ts";
import { DeviceRows } from "../../src/store/rows/devices.ts";
import { FollowRows } from "../../src/store/rows/follow.ts";
import { GroupRows } from "../../src/store/rows/groups.ts";
import { CrowdedNotices } from "../../src/store/rows/notice-room.ts";
import { RefusedRows } from "../../src/store/rows/refused.ts";
import { UserRows } from "../../src/store/rows/users.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { engine } from "../../src/store/sqlite/engine.ts";
import { newAlert, newNotice } from "../contract/store/alert-values.ts";
import { day, emptyHead } from "../contract/store/followed.ts";
import { deviceFields, makeAccount, makeDevice, newCommand, now, userFields } from "../contract/store/harness.ts";
import { plainSqlite, withoutIndex } from "../support/plain-sqlite.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore as open } from "../support/store.ts";

/** What can only be seen behind the store's back. */
describe("rows of the SQLite store", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "waybeam-rows-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("of a removed device's commands are deleted in the background, also after a restart", async () => {
    let store = await open(directory);
    const account = await makeAccount(store);
    const gone = await makeDevice(store, account.key);
    const kept = await makeDevice(store, account.key);
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"));
    const many = async (device: number, count: number) => {
      await Promise.all(Array.from({ length: 3 }, () => store.commands.create(newCommand(device))));
      file.exec(`insert into command (id, device, user, user_name, channel, format, command, encode, state, creation, expires)
        with recursive i (n) as (select 1 union all select n + 1 from i where n < ${count})
        select device || '-' || n, device, user, user_name, channel, format, command, encode, state, creation, expires
        from i, (select * from command where device = ${device} limit 1)`);
    };
    await many(gone.key, 20_000);
    await many(kept.key, 10);
    const left = async (device: number) =>
      (await rows.selectFrom("command").select("key").where("device", "=", device).execute()).length;
    await store.devices.remove(gone.key);
    await store.close();
    assert.ok((await left(gone.key)) > 0, "the store was closed at once");
    store = await open(directory);
    while ((await rows.selectFrom("purge").selectAll().execute()).length > 0) await sleep(10);
    assert.deepEqual([await left(gone.key), await left(kept.key)], [0, 13]);
    await store.close();
    await rows.destroy();
  });

  it("of a removed device's refused reports are deleted in the background, in small steps, also after a restart", async () => {
    let store = await open(directory);
    const account = await makeAccount(store);
    const gone = await makeDevice(store, account.key);
    const kept = await makeDevice(store, account.key);
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"));
    for (const { key } of [gone, kept])
      file.exec(`insert into refused (device, received_at, time, cause, report)
        with recursive i (n) as (select 1 union all select n + 1 from i where n < 20000)
        select ${key}, n, n, 'future', '{}' from i`);
    const left = async (device: number) =>
      (await rows.selectFrom("refused").select("seq").where("device", "=", device).execute()).length;
    await store.devices.remove(gone.key);
    await store.close();
    assert.ok((await left(gone.key)) > 0, "the store was closed at once");
    store = await open(directory);
    while ((await rows.selectFrom("purge").selectAll().execute()).length > 0) await sleep(10);
    assert.deepEqual([await left(gone.key), await left(kept.key)], [0, 20_000]);
    await store.close();
    await rows.destroy();
  });

  it("are found by an index, in the order of an index, by every question that may meet many", async () => {
    const statements = new Set<string>();
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"), (sql) => statements.add(sql));
    await migrate(rows, engine);
    statements.clear();
    await askEverything(rows);
    assert.ok(statements.size > 40, `${statements.size} statements`);
    assert.deepEqual(withoutIndex(file, statements), []);
    await rows.destroy();
  });
});

/** Each question of the row stores, but those that are about all accounts. */
async function askEverything(rows: ReturnType<typeof plainSqlite>["rows"]): Promise<void> {
  const accounts = new AccountRows(rows, openVault);
  const users = new UserRows(rows);
  const devices = new DeviceRows(rows, { add() {}, doubt() {} });
  const groups = new GroupRows(rows);
  const commands = new CommandRows(rows, 1000, "run");
  const daily = new DailyRows(rows);
  const person = userFields(0);
  const made = await accounts.createWithOwner(
    { id: "a", name: "A", timeZone: "Etc/UTC", licenses: 9, language: "en" },
    person,
    now,
  );
  assert.ok(made !== "emailInUse");
  const { account, owner } = made;
  await accounts.find(account.key);
  await accounts.findById(account.id);
  await accounts.replace(account.key, account);
  await accounts.licensesUsed(account.key, now);
  await accounts.setting("name", () => "value");
  await users.find(owner.id);
  await users.findByKey(owner.key);
  await users.findByEmail(owner.email);
  await users.list(account.key);
  await users.replace(owner.key, { ...person, passwordHash: undefined }, now);
  await users.setApiKey(owner.key, null, now);
  await users.setLastLogin(owner.key, now);
  const device = await devices.create(account.key, deviceFields(), now);
  assert.ok(typeof device !== "string");
  await users.addUsage(
    [{ userKey: owner.key, day: "2026-11-21", requests: 1 }],
    [{ device: device.key, day: "2026-11-21", results: 1 }],
  );
  await users.usage(owner.key, "2026-11-21");
  await users.foldUsage("2026-11-22", 0, 5);
  await users.results(device.key, "2026-11-21");
  await devices.find(device.id);
  await devices.identify([device.id]);
  await devices.list(account.key);
  await devices.nextExpiry(now);
  await devices.expiredBetween(now, now + 1);
  await devices.replace(device.key, device, now);
  const group = await groups.create(account.key, "g", { name: "G", description: null, devices: [] }, now);
  await groups.find(group.id);
  await groups.list(account.key);
  await groups.holding(account.key, device.id);
  await groups.replace(group.key, group, now);
  await groups.remove(group.key);
  const fields = newCommand(device.key, { idempotencyKey: "k" });
  await commands.create(fields);
  await commands.enqueue(fields, 1);
  await commands.find(device.key, fields.id);
  await commands.list(device.key, undefined, 5);
  await commands.list(device.key, 5, 5);
  await commands.queued(device.key, 0, 1);
  await commands.step(1, ["queued", "sent"], "sent", { smsIds: ["s"] });
  await commands.step(1, ["ours"], "sent", {});
  await commands.receipt("s", true);
  await commands.deleteEnded(now + 5000, 0, 5);
  await commands.nextExpiry();
  await commands.expire(now);
  await daily.take(device.key, "2026-11-21", "sms", { device: 5, account: 5 });
  await daily.sentOfAccount(1, "2026-11-21");
  await daily.giveBack(device.key, "2026-11-21", "sms");
  await daily.sent(device.key, "2026-11-21");
  await askFollowed(rows, device.key);
  await devices.remove(device.key);
  await users.remove(owner.key);
}

async function askFollowed(rows: ReturnType<typeof plainSqlite>["rows"], device: number): Promise<void> {
  const follow = new FollowRows(rows, { vault: openVault, crowded: new CrowdedNotices(100), log: silentLog });
  const [alert, gone] = [newAlert(device, 1), newAlert(device, 1, { phase: "withdrawn" })];
  const end = { ruleKey: 1, time: now, foundAt: now };
  const found = { alerts: [alert, gone], notices: [newNotice(alert)], ended: [end, { ...end, withdrawn: alert.id }] };
  await follow.commit([{ device, head: emptyHead, days: [day(1, 5)], ...found }]);
  await follow.heads([device]);
  await follow.days(device, { order: "first", limit: 5 });
  await follow.days(device, { from: 1, to: 5, order: "last", limit: 5 });
  await follow.sumsBefore(device, 5);
  await follow.daysBefore([device], 5);
  await follow.forgetDays(device, 5);
  const report = { device, receivedAt: now, time: 1, cause: "past", report: "a refused report" } as const;
  const refused = new RefusedRows(rows, 20);
  await refused.add([report, report]);
  await refused.page(device, 5);
  await refused.prune(now, 5);
}
