import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { placeBefore } from "../../src/model/location.ts";
import { type PackedContext, StoreUnavailable } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, record } from "../contract/store/records.ts";
import { collectGarbage } from "../support/garbage.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

const records = Array.from({ length: 8 }, (_, at) => record(at + 1));
const place = placeBefore(record(3).time);

/** A store with devices that each have a history in one chunk: a block, or a row of the tail. */
async function storeWith(context: TestContext, devices: number, sealed: boolean) {
  const directory = dataFolder();
  const store: OpenedStore = await openStore(directory);
  context.after(async () => {
    await store.close();
    removeFolder(directory);
  });
  const account = await makeAccount(store);
  const keys: number[] = [];
  for (let made = 0; made < devices; made++) {
    const { key } = await makeDevice(store, account.key);
    await store.locations.commit(batchOf(append(key, 1, records)));
    if (sealed) await store.seal(key);
    keys.push(key);
  }
  const change = (sql: string, ...values: (number | Uint8Array)[]) => {
    const database = new DatabaseSync(join(directory, "waybeam.db"));
    database.prepare(sql).run(...values);
    database.close();
  };
  return { store, keys, change };
}

/** Whether an error says that this device's records are damaged. */
const tellsDamageOf = (device: number) => (error: unknown) => {
  assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
  assert.match(error.message, new RegExp(`device ${device}\\b`));
  return true;
};

test("a damaged block fails only its own device's request for the history around a late report, though all requests share one call", async (context) => {
  const { store, keys, change } = await storeWith(context, 3, true);
  const [first = 0, damaged = 0, last = 0] = keys;
  change(
    "update block_data set data = zeroblob(length(data)) where seq = (select seq from block where device = ?)",
    damaged,
  );
  const [one, other, another] = [first, damaged, last].map((key) => store.locations.context(key, place, 2));
  const expected = { before: records[1], from: records.slice(2, 4), more: true };
  await Promise.allSettled([one, other, another]);
  assert.deepEqual(await one, expected);
  assert.deepEqual(await another, expected);
  await assert.rejects(other ?? assert.fail(), tellsDamageOf(damaged));
});

test("a record whose damage shows only when it is unpacked fails with an error that names its device", async (context) => {
  const { store, keys, change } = await storeWith(context, 1, false);
  const [damaged = 0] = keys;
  // The length is right, but the flags name more fields than fit into it.
  const bytes = new Uint8Array(60);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, 0xfffd, true);
  view.setFloat64(8, record(3).time, true);
  view.setFloat64(16, 1, true);
  change("update tail set data = ? where device = ?", bytes, damaged);
  await assert.rejects(store.locations.context(damaged, place, 2), tellsDamageOf(damaged));
  await assert.rejects(store.locations.moment(damaged, record(3).time), tellsDamageOf(damaged));
});

test("a context that waits for its batch holds no memory but its own", async (context) => {
  const { store, keys } = await storeWith(context, 1, true);
  const [device = 0] = keys;
  const held: PackedContext[] = [];
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let asked = 0; asked < 200; asked++) {
    held.push(await store.locations.packedContext(device, place, 2));
    // Takes from the buffers that Node shares, as sockets and texts do meanwhile.
    for (let times = 0; times < 3; times++) Buffer.from("x".repeat(30_000));
  }
  const own = held.reduce((sum, one) => sum + one.bytes, 0);
  let bytes = Number.POSITIVE_INFINITY;
  // It would be 13 MB if each context kept a shared buffer. The 5 MB are for what the store's messages leave. V8 gives memory back in the background.
  for (let tries = 0; tries < 20 && bytes >= own + 5 * 1024 * 1024; tries++) {
    collectGarbage();
    await pause(10);
    bytes = process.memoryUsage().arrayBuffers - before;
  }
  assert.ok(bytes < own + 5 * 1024 * 1024, `${bytes} bytes for ${own}`);
});
