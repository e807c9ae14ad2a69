import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority, platform } from "node:os";
import { test } from "node:test";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, everything, readAll, record } from "../contract/store/records.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

/** Readers of this process that give way to the other threads, as the packer of blocks does too. */
function givingWay(): number {
  const threads = readdirSync("/proc/self/task").map(Number);
  return threads.filter((thread) => isReader(thread) && getPriority(thread) > getPriority(process.pid)).length;
}

/** By its name, of which the system keeps 15 characters. */
function isReader(thread: number): boolean {
  return readFileSync(`/proc/self/task/${thread}/comm`, "utf8").startsWith("store histories");
}

test("long histories are read by a thread that gives way, short ones are not, and both tell the same", {
  skip: platform() !== "linux",
}, async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory);
  context.after(async () => {
    await store.close();
    removeFolder(directory);
  });
  const account = await makeAccount(store);
  const device = await makeDevice(store, account.key);
  const records = Array.from({ length: 6000 }, (_, index) => record(index));
  await store.locations.commit(batchOf(append(device.key, 1, records)), () => undefined);
  const short = { ...everything, from: records.at(-10)?.time ?? 0 };
  assert.equal((await readAll(store, device.key, { ...everything, limit: 3 })).count, 3);
  const first = await readAll(store, device.key);
  // The first one may be read while the thread starts.
  for (let again = 0; givingWay() === 0; again++) {
    assert.ok(again < 100, "no thread gives way");
    assert.deepEqual(await readAll(store, device.key), first);
  }
  assert.equal(givingWay(), 1);
  const all = await Promise.all(
    [short, everything, short, everything].map((range) => readAll(store, device.key, range)),
  );
  assert.deepEqual(
    all.map(({ count }) => count),
    [10, 6000, 10, 6000],
  );
  assert.deepEqual(all[3], first);
});
