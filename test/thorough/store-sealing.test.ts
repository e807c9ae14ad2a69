import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { draftOf } from "../../src/ingest/draft.ts";
import { ordered } from "../../src/ingest/pending.ts";
import { planAppend } from "../../src/ingest/plan.ts";
import { neverReported, placeBefore } from "../../src/model/location.ts";
import { locationJson } from "../../src/model/location-json.ts";
import type { Store } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { writeRecord } from "../../src/store/records/record-codec.ts";
import { ByteSink } from "../../src/store/records/sink.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { DeviceModel, type Step, someStep } from "../contract/store/model.ts";
import { append, batchOf, everything, readAll, record } from "../contract/store/records.ts";
import { chance, drive } from "../support/any-order.ts";
import { backToBlocks } from "../support/older-data.ts";
import { openStore as open } from "../support/store.ts";

async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "waybeam-sealing-"));
}

async function agree(store: Store, model: DeviceModel): Promise<void> {
  const read = await readAll(store, model.device);
  assert.equal(
    read.json,
    model
      .history(everything)
      .map((one) => locationJson(one, 0))
      .join(","),
  );
  for (const { time } of model.records.filter((_, index) => index % 97 === 0))
    assert.deepEqual(
      await store.locations.context(model.device, placeBefore(time), 5),
      model.context(placeBefore(time), 5),
    );
}

function shiftsLeft(directory: string): number {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const left = Number(database.prepare("select coalesce(max(count), 0) as n from shifts").get()?.n);
  database.close();
  return left;
}

async function sealed(store: OpenedStore, directory: string, devices: number): Promise<void> {
  while (store.sealing.tailChunks > devices * 256 || shiftsLeft(directory) >= 128) await sleep(5);
}

test("histories stay the same while they are sealed and shifts are folded in, and after restarts", async () => {
  const directory = await folder();
  let store = await open(directory);
  const account = await makeAccount(store, 100);
  const models = [
    new DeviceModel((await makeDevice(store, account.key)).key),
    new DeviceModel((await makeDevice(store, account.key)).key),
  ];
  for (let round = 0; round < 4; round++) {
    const steps: readonly Step[] = fc.sample(someStep, { numRuns: 300, seed: round + 1 });
    for (const [place, step] of steps.entries()) {
      const model = models[place % 2];
      assert.ok(model);
      // Few records each, so that there are many chunks.
      const { records } = step;
      const commit = batchOf(model.apply({ ...step, records: records.slice(0, 3) }));
      assert.equal(await store.locations.commit(commit), undefined);
      if (place % 23 === 0) await agree(store, model);
    }
    if (round % 2 === 0) {
      await store.close();
      store = await open(directory);
    } else await sealed(store, directory, models.length);
    for (const model of models) await agree(store, model);
  }
  await store.close();
  store = await open(directory);
  for (const model of models) await agree(store, model);
  await store.close();
  await rm(directory, { recursive: true });
});

test("a history that is being read has every record once while it is sealed", async () => {
  const directory = await folder();
  const store = await open(directory);
  const device = await makeDevice(store, (await makeAccount(store)).key);
  const texts: string[] = [];
  let writing = true;
  const read = async () => {
    while (writing) {
      // The last one may not be stored yet.
      const stored = texts.length - 1;
      const { json, count } = await readAll(store, device.key);
      assert.ok(count >= stored && json === texts.slice(0, count).join(","), `${count} of ${stored}`);
      await sleep(10);
    }
  };
  const readers = [read(), read()];
  for (let second = 0; second < 2000; second++) {
    texts.push(locationJson(record(second), 0));
    await store.locations.commit(batchOf(append(device.key, second + 1, [record(second)])));
    if (second % 100 === 0) await sleep(1);
  }
  writing = false;
  await Promise.all(readers);
  assert.ok(store.sealing.blocks > 0, "blocks were made meanwhile");
  await store.close();
  await rm(directory, { recursive: true });
});

test("a device that is removed while it is sealed leaves nothing", async () => {
  const directory = await folder();
  const store = await open(directory);
  const account = await makeAccount(store);
  const device = await makeDevice(store, account.key);
  for (let version = 1; version <= 300; version++)
    await store.locations.commit(batchOf(append(device.key, version, [record(version)])));
  await store.devices.remove(device.key);
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const rows = (table: string) => Number(database.prepare(`select count(*) as n from ${table}`).get()?.n);
  while (rows("purge") > 0) await sleep(5);
  await store.close();
  for (const table of ["tail", "block", "block_data", "shifts", "patch"]) assert.equal(rows(table), 0, table);
  database.close();
  await rm(directory, { recursive: true });
});

test("records with long texts are put together into blocks of bounded bytes, once", async (context) => {
  const directory = await folder();
  const store = await open(directory);
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  context.after(async () => {
    database.close();
    await store.close();
    await rm(directory, { recursive: true });
  });
  const device = await makeDevice(store, (await makeAccount(store)).key);
  const texts: string[] = [];
  const commits = 600;
  for (let second = 0; second < commits; second++) {
    // Most have 10 KB, some 100 and more than a chunk is to have.
    const length = second % 50 === 7 ? 300_000 : second % 10 === 3 ? 100_000 : 10_000;
    const made = record(second, { extras: `,"attributes":{"text":"${"x".repeat(length)}"` });
    texts.push(locationJson(made, 0));
    await store.locations.commit(batchOf(append(device.key, second + 1, [made])));
  }
  while (store.sealing.tailChunks >= 256 || store.sealing.waitingDevices > 0) await sleep(5);
  const rows = database.prepare("select seq, count, bytes from block").all();
  assert.ok(rows.length > 0);
  for (const { count, bytes } of rows) assert.ok(Number(bytes) < 1200 * 1024 || count === 1, `${count}: ${bytes}`);
  // Their bytes make them full: they are not written again with each record that comes.
  const made = Math.max(...rows.map(({ seq }) => Number(seq))) - commits;
  assert.ok(made < commits / 2, `${made} blocks were made of ${commits} commits`);
  assert.equal((await readAll(store, device.key)).json, texts.join(","));
});

test("data of the version before blocks open as they are and are sealed meanwhile, also after the process is stopped in the midst", async (context) => {
  const directory = await folder();
  let store = await open(directory);
  context.after(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const account = await makeAccount(store);
  const devices = [await makeDevice(store, account.key), await makeDevice(store, account.key)];
  await store.close();
  const drafts = drive(chance(3), 20_000).map((fix) => draftOf(fix, fix.time, fix.time + 800, false));
  const { records } = planAppend(neverReported, ordered(drafts)).plan;
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const insert = database.prepare("insert into tail (device, first, last, count, data) values (?, ?, ?, ?, ?)");
  for (let at = 0; at < records.length; at += 256)
    for (const { key } of devices) {
      const some = records.slice(at, at + 256);
      const sink = new ByteSink(64 * 1024);
      for (const one of some) writeRecord(sink, one);
      insert.run(key, some[0]?.time ?? 0, some.at(-1)?.time ?? 0, some.length, sink.cut());
    }
  backToBlocks(database);
  database.exec("drop table block; drop table block_data; drop table patch; delete from migration where number = 13");
  database.close();
  const expected = records.map((one) => locationJson(one, 0)).join(",");
  for (let start = 0; start < 3; start++) {
    store = await open(directory);
    for (const { key } of devices) assert.equal((await readAll(store, key)).json, expected);
    // Closed in the midst of it, but for the last time.
    while (store.sealing.blocks === 0 || (start === 2 && store.sealing.waitingDevices > 0)) await sleep(5);
    if (start === 2) break;
    await store.close();
  }
  while (store.sealing.tailPositions >= 512) await sleep(5);
  for (const { key } of devices) assert.equal((await readAll(store, key)).json, expected);
});
