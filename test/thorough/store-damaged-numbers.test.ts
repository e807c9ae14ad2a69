import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { followedState } from "../../src/fold/state.ts";
import type { DeviceCommit } from "../../src/model/commit.ts";
import { type DeviceState, firstArrival, neverReported } from "../../src/model/location.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { batchOf, everything, readAll, record } from "../contract/store/records.ts";
import { backToBlocks } from "../support/older-data.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

function folder(context: TestContext): string {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  return directory;
}

/** What is on the disk of a store that is open: as after a crash. */
function crashed(context: TestContext, directory: string): string {
  const copy = folder(context);
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  return copy;
}

/** A commit whose state is kept. */
function following(device: number, before: DeviceState): DeviceCommit {
  const { arrivals } = before;
  const records = [record(arrivals, { arrival: firstArrival + arrivals })];
  return { device, records, patches: [], state: followedState(before, records), follows: true };
}

/** Changes a folder that nobody has open. */
function change(directory: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  work(database);
  database.exec("pragma user_version = 2");
  database.close();
}

test("a changed digit of the row up to which states are written loses no records after a crash", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  context.after(() => store.close());
  const { key } = await makeDevice(store, (await makeAccount(store)).key);
  const commit = following(key, neverReported);
  await store.locations.commit(batchOf(commit));
  for (const at of [0, -1]) {
    const copy = crashed(context, directory);
    change(copy, (database) => {
      const value = String(database.prepare("select value from setting where name = 'states'").get()?.value);
      const damaged = at === 0 ? `9${value.slice(1)}` : `${value.slice(0, -1)}9`;
      database.prepare("update setting set value = ? where name = 'states'").run(damaged);
    });
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([key]);
    await again.close();
    assert.deepEqual(found, commit.state);
  }
});

/** Beyond the numbers that are given, beyond those that JavaScript has exactly, and the highest that a row can have. */
for (const number of [2n ** 52n + 1n, 2n ** 60n, 2n ** 63n - 1n])
  for (const older of [false, true])
    test(`a damaged row number of ${number} costs its own records only${older ? ", in a folder of an older version" : ""}`, async (context) => {
      const directory = folder(context);
      let store = await openStore(directory);
      const { key: account } = await makeAccount(store);
      const [{ key: damaged }, { key: other, id }] = [
        await makeDevice(store, account),
        await makeDevice(store, account),
      ];
      const first = following(other, neverReported);
      await store.locations.commit(batchOf(first));
      await store.locations.commit(batchOf(following(damaged, neverReported)));
      await store.close();
      change(directory, (database) => {
        if (older) backToBlocks(database);
        database.prepare("update tail set seq = ? where device = ?").run(number, damaged);
      });
      store = await openStore(directory);
      context.after(() => store.close());
      await store.check();
      const second = following(other, first.state);
      const third = following(other, second.state);
      for (const commit of [second, third]) assert.equal(await store.locations.commit(batchOf(commit)), undefined);
      assert.equal((await readAll(store, other, everything)).count, 3);
      const copy = crashed(context, directory);
      const work = { signal: new AbortController().signal, progress: () => undefined };
      const { findings } = await check({ directory: copy, secretFile: undefined, pid: process.pid }, work);
      assert.deepEqual(
        findings.filter(({ device }) => device === id),
        [],
      );
      const again = await openStore(copy, silentLog);
      const states = await again.locations.states([other]);
      await again.close();
      assert.deepEqual(states, [third.state]);
    });

for (const table of ["shifts", "patch"])
  test(`a damaged row of the table ${table} keeps no store from opening`, async (context) => {
    const directory = folder(context);
    let store = await openStore(directory);
    const { key: account } = await makeAccount(store);
    const [{ key: damaged }, { key: other }] = [await makeDevice(store, account), await makeDevice(store, account)];
    const commits = [damaged, other].map((key) => following(key, neverReported));
    await store.locations.commit(batchOf(...commits));
    await store.close();
    change(directory, (database) => {
      const rest =
        table === "shifts" ? "since, count, data) values (?, ?, 0" : "first, last, count, data) values (?, ?, 0, 0";
      database.prepare(`insert into ${table} (device, seq, ${rest}, 1, x'00')`).run(damaged, 2n ** 60n);
    });
    store = await openStore(directory);
    context.after(() => store.close());
    assert.equal((await readAll(store, other, everything)).count, 1);
  });

/** One changed bit in the header of a row makes text of its bytes, or a number, or nothing. */
for (const [what, value] of Object.entries({ text: "cast(data as text)", "a number": "3.5", nothing: "x''" }))
  test(`a state whose bytes have become ${what} is damaged: it is not that of a device that never reported`, async (context) => {
    const directory = folder(context);
    let store = await openStore(directory);
    const { key: account } = await makeAccount(store);
    const [{ key: damaged, id }, { key: other }] = [await makeDevice(store, account), await makeDevice(store, account)];
    const commits = [damaged, other].map((key) => following(key, neverReported));
    await store.locations.commit(batchOf(...commits));
    await store.close();
    change(directory, (database) => {
      database.prepare(`update device_state set data = ${value} where device = ?`).run(damaged);
    });
    const work = { signal: new AbortController().signal, progress: () => undefined };
    const { findings } = await check({ directory, secretFile: undefined, pid: process.pid }, work);
    assert.deepEqual(
      findings.map(({ device }) => device),
      [id],
    );
    assert.match(findings[0]?.problem ?? "", /^its state .* is damaged/);
    store = await openStore(directory);
    context.after(() => store.close());
    await assert.rejects(store.locations.states([damaged]), (error) => {
      assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
      return true;
    });
    assert.deepEqual(await store.locations.states([other]), [commits[1]?.state]);
  });

for (const column of ["version", "as_of"])
  test(`waybeam check goes on behind a damaged ${column} of a state`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const { key: account } = await makeAccount(store);
    const [{ key: damaged, id: one }, { key: other, id: two }] = [
      await makeDevice(store, account),
      await makeDevice(store, account),
    ];
    await store.locations.commit(batchOf(following(damaged, neverReported), following(other, neverReported)));
    await store.close();
    change(directory, (database) => {
      database.prepare(`update device_state set ${column} = ? where device = ?`).run(2n ** 60n, damaged);
      database.prepare("update device_state set data = x'00' where device = ?").run(other);
    });
    const work = { signal: new AbortController().signal, progress: () => undefined };
    const { findings } = await check({ directory, secretFile: undefined, pid: process.pid }, work);
    assert.deepEqual(
      findings.map(({ device }) => device),
      [one, two],
    );
  });
