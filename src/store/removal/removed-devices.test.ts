import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { makeAccount, makeDevice } from "../../../test/contract/store/harness.ts";
import { plainSqlite } from "../../../test/support/plain-sqlite.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { silentLog } from "../../../test/support/silent-log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import { openSqliteStore } from "../sqlite/open.ts";
import { RemovedDevices } from "./removed-devices.ts";

const settled = async () => {
  for (let at = 0; at < 1000; at++) await Promise.resolve();
};

/** Removed devices whose positions can't be deleted. `warnings`: how often the log was told. */
function failing(devices: number, error: StoreUnavailable) {
  const told = { warnings: 0 };
  const removed = new RemovedDevices({
    // Never reached: the positions come first.
    database: {} as Kysely<Schema>,
    positions: { deleteBefore: () => Promise.reject(error) },
    log: { ...silentLog, warn: () => void told.warnings++ },
  });
  for (let device = 1; device <= devices; device++) removed.add(device);
  return { removed, told };
}

async function passed({ mock }: TestContext, ms: number, step = 1000): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    mock.timers.tick(step);
    await settled();
  }
}

test("a removed device that can't be deleted is tried again after longer and longer pauses, and by nobody once the store closes", async (context) => {
  for (const trouble of ["down", "damaged"] as const) {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { removed, told } = failing(1, new StoreUnavailable("no", undefined, trouble));
    await settled();
    assert.equal(told.warnings, 1);
    await passed(context, 7000);
    assert.equal(told.warnings, 4);
    await passed(context, 3_600_000, 60_000);
    assert.ok(told.warnings < 18, `${told.warnings} lines of the log in an hour`);
    await removed.close();
    const before = told.warnings;
    await passed(context, 600_000, 60_000);
    assert.equal(told.warnings, before);
    context.mock.timers.reset();
  }
});

test("while the store can't be written, a thousand removed devices make no more lines of the log than one", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { removed, told } = failing(1000, new StoreUnavailable("the disk is full"));
  await settled();
  await passed(context, 7000);
  assert.equal(told.warnings, 4);
  await removed.close();
});

test("devices that are removed one after the other while the store can't be written make no lines of their own, and no longer pauses", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { removed, told } = failing(1, new StoreUnavailable("the disk is full"));
  await settled();
  for (let device = 2; device <= 60; device++) {
    await passed(context, 100, 100);
    removed.add(device);
  }
  await passed(context, 1100, 100);
  assert.equal(told.warnings, 4);
  await removed.close();
});

test("a thousand removed devices that are all damaged are not tried all at once", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { removed, told } = failing(1000, new StoreUnavailable("no", undefined, "damaged"));
  await settled();
  await passed(context, 7000, 50);
  assert.ok(told.warnings > 4 && told.warnings < 100, `${told.warnings} lines of the log in seven seconds`);
  await removed.close();
});

test("a removed device that can't be deleted does not keep another one; a removal in doubt deletes nothing of a device that is there", async (context) => {
  const directory = dataFolder();
  const store = await openSqliteStore({ directory, log: silentLog, pid: process.pid });
  const { rows } = plainSqlite(`${directory}/waybeam.db`);
  context.after(async () => {
    await rows.destroy();
    await store.close();
    removeFolder(directory);
  });
  const { key: account } = await makeAccount(store);
  const there = (await makeDevice(store, account)).key;
  const gone = [101, 102, 103];
  for (const device of gone) await rows.insertInto("purge").values({ device }).execute();
  const deleted: number[] = [];
  let isMended = false;
  const removed = new RemovedDevices({
    database: rows,
    positions: {
      async deleteBefore(device, moment) {
        if (device === 101 && !isMended) throw new StoreUnavailable("no", undefined, "damaged");
        assert.equal(moment, Number.POSITIVE_INFINITY);
        deleted.push(device);
      },
    },
    log: silentLog,
  });
  await removed.resume();
  removed.doubt(there);
  removed.doubt(104);
  while (!deleted.includes(104)) await sleep(5);
  const left = async () => (await rows.selectFrom("purge").select("device").execute()).map(({ device }) => device);
  while ((await left()).length > 1) await sleep(5);
  assert.deepEqual(await left(), [101]);
  isMended = true;
  while ((await left()).length > 0) await sleep(5);
  await removed.close();
  assert.deepEqual(deleted, [102, 103, 104, 101]);
});
