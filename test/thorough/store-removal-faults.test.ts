import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, record } from "../contract/store/records.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

/** A store, devices of an account, each with a record, and the row numbers that a table has of a device. */
async function storeWith(context: TestContext, count: number) {
  const directory = dataFolder();
  const store = await openStore(directory);
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  context.after(async () => {
    context.mock.restoreAll();
    database.close();
    await store.close();
    removeFolder(directory);
  });
  const account = await makeAccount(store);
  const devices: number[] = [];
  for (let made = 0; made < count; made++) {
    const { key } = await makeDevice(store, account.key);
    await store.locations.commit(batchOf(append(key, 1, [record(1)])));
    devices.push(key);
  }
  const rows = (table: "tail" | "purge", device: number) =>
    database
      .prepare(`select rowid as seq from ${table} where device = ?`)
      .all(device)
      .map(({ seq }) => Number(seq));
  return { store, devices, rows };
}

/** Lets calls to workers fail as `fails` says. A call whose answer is lost is done. */
function faults(
  context: TestContext,
  fails: (name: string, request: unknown) => "answer lost" | "not asked" | undefined,
): void {
  const { call } = WorkerLink.prototype;
  const faulty = async function (this: WorkerLink<never>, ...given: Parameters<typeof call>) {
    const way = fails(given[0], given[1]);
    if (way === undefined) return Reflect.apply(call, this, given);
    if (way === "answer lost") await Reflect.apply(call, this, given);
    throw new StoreUnavailable(`${given[0]}: ${way}`);
  };
  context.mock.method(WorkerLink.prototype, "call", faulty as typeof call);
}

test("a removed device whose records can't be deleted does not keep those of another removed device", async (context) => {
  const { store, devices, rows } = await storeWith(context, 2);
  const [first = 0, second = 0] = devices;
  const [damaged] = rows("tail", first);
  let mended = false;
  faults(context, (name, request) =>
    name === "purge" && !mended && Array.isArray(request) && request.includes(damaged) ? "not asked" : undefined,
  );
  await store.devices.remove(first);
  await store.devices.remove(second);
  while (rows("purge", second).length > 0) await sleep(5);
  assert.equal(rows("tail", second).length, 0);
  assert.equal(rows("tail", first).length, 1);
  mended = true;
  while (rows("purge", first).length > 0) await sleep(5);
  assert.equal(rows("tail", first).length, 0);
});

test("what a commit of unknown outcome left of a removed device is deleted, even if the first try fails", async (context) => {
  const { store, devices, rows } = await storeWith(context, 1);
  const [device = 0] = devices;
  let purges = 0;
  faults(context, (name) => {
    if (name === "append") return "answer lost";
    // The second purge is for what the commit left.
    return name === "purge" && ++purges === 2 ? "not asked" : undefined;
  });
  await assert.rejects(store.locations.commit(batchOf(append(device, 2, [record(2)]))), StoreUnavailable);
  assert.equal(rows("tail", device).length, 2);
  await store.devices.remove(device);
  while (rows("purge", device).length > 0) await sleep(5);
  assert.equal(rows("tail", device).length, 0);
  assert.equal(purges, 3);
});
