import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { first } from "../../src/store/migrations/0001-first.ts";
import { tenants } from "../../src/store/migrations/0002-tenants.ts";
import { alerts } from "../../src/store/migrations/0003-alerts.ts";
import { migrate } from "../../src/store/migrations/migrations.ts";
import { AccountRows } from "../../src/store/rows/accounts.ts";
import { CommandRows } from "../../src/store/rows/commands.ts";
import { DailyRows } from "../../src/store/rows/daily.ts";
import { DeviceRows } from "../../src/store/rows/devices.ts";
import { GroupRows } from "../../src/store/rows/groups.ts";
import { UserRows } from "../../src/store/rows/users.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { engine } from "../../src/store/sqlite/engine.ts";
import { deviceFields, makeAccount, makeDevice, newCommand, now, userFields } from "../contract/store/harness.ts";
import { plainSqlite, withoutIndex } from "../support/plain-sqlite.ts";
import { openStore as open } from "../support/store.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What can only be seen behind the store's back. */
describe("rows of the SQLite store", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "waybeam-rows-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("of the first version get what later ones have", async () => {
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"));
    await first.up(rows, engine);
    await rows.schema.createTable("migration").addColumn("number", "integer").addColumn("name", "text").execute();
    await rows.insertInto("migration").values({ number: 1, name: first.name }).execute();
    const account = file.prepare(
      "insert into account (name, time_zone, licenses, creation) values (?, 'Etc/UTC', 5, 1) returning key",
    );
    const keys = Array.from({ length: 50 }, (_, index) => Number(account.get(`Old ${index}`)?.key));
    file.exec(`insert into user (id, account, owner, name, email, email_lower, country, time_zone, disabled, tags, privileges, creation, modification)
      values ('u', ${keys[3]}, 1, 'Ana', 'Ana@example.org', 'ana@example.org', 'CO', 'Etc/UTC', 0, '{}', '[]', 1, 1)`);
    await rows.destroy();
    const store = await open(directory);
    const accounts = await store.accounts.list();
    assert.deepEqual(
      accounts.map(({ key, name }) => [key, name]),
      keys.map((key, index) => [key, `Old ${index}`]),
    );
    for (const { id } of accounts) assert.match(id, uuid);
    assert.equal(new Set(accounts.map(({ id }) => id)).size, 50);
    assert.deepEqual(await store.accounts.findById(accounts[7]?.id ?? ""), accounts[7]);
    const user = await store.users.findByEmail("ana@example.org");
    assert.deepEqual([user?.passwordHash, user?.accountKey], [null, keys[3]]);
    await store.close();
    const again = await open(directory);
    assert.deepEqual(await again.accounts.list(), accounts);
    await again.close();
  });

  it("that name an SMS of a command go on to name it", async () => {
    const { rows, file } = plainSqlite(join(directory, "waybeam.db"));
    const before = [first, tenants, alerts];
    await rows.schema.createTable("migration").addColumn("number", "integer").addColumn("name", "text").execute();
    for (const [index, migration] of before.entries()) {
      await migration.up(rows, engine);
      await rows
        .insertInto("migration")
        .values({ number: index + 1, name: migration.name })
        .execute();
    }
    file.exec(`insert into account (id, name, time_zone, licenses, creation) values ('a', 'A', 'Etc/UTC', 5, 1);
      insert into device (account, id, aliases, name, tags, daily_email_limit, daily_sms_limit, odometer_start, creation, modification)
      values (1, 'd', '[]', 'D', '{}', 1, 1, 0, 1, 1);
      insert into command (id, device, user, user_name, channel, format, command, encode, state, creation, expires, sms_id)
      values ('c', 1, 1, 'u', 'sms', 'Text', 'x', 0, 'sent', 1, 2, 'm1'), ('e', 1, 1, 'u', 'sms', 'Text', 'x', 0, 'sent', 1, 2, null)`);
    await rows.destroy();
    const store = await open(directory);
    const known = await store.commands.receipt("m1", true);
    assert.deepEqual([known?.command.id, known?.delivery], ["c", "delivered"]);
    assert.equal((await store.commands.list(1, undefined, 5)).length, 2);
    await store.close();
  });

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
  await devices.remove(device.key);
  await users.remove(owner.key);
}
