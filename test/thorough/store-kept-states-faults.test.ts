import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { DeviceCommit } from "../../src/model/commit.ts";
import { type DeviceState, neverReported } from "../../src/model/location.ts";
import { batchOf, readAll } from "../contract/store/records.ts";
import {
  crashed,
  devicesOf,
  findingsOf,
  folder,
  following,
  setStatesAsOf,
  withoutVersion,
  written,
} from "../support/kept-states.ts";
import { backToBlocks } from "../support/older-data.ts";
import { openStore } from "../support/store.ts";

const pageSize = 8192;

/** Makes a state that is too long for one page: a part of it has pages of its own. */
const longExtras = `,"attributes":{"text":"${"Q".repeat(5 * pageSize)}"`;

/** Damages the pages of states that hold little but this character. */
function damagePages(file: string, mark: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const used = database.prepare("select pageno from dbstat where name = 'device_state'").all();
  database.close();
  const bytes = readFileSync(file);
  let pages = 0;
  for (const { pageno } of used) {
    const at = (Number(pageno) - 1) * pageSize;
    const page = bytes.subarray(at, at + pageSize);
    if (page.reduce((count, byte) => count + (byte === mark.charCodeAt(0) ? 1 : 0), 0) < pageSize - 100) continue;
    bytes.fill(0xff, at, at + pageSize);
    pages++;
  }
  assert.ok(pages > 0);
  writeFileSync(file, bytes);
}

/** Moves the log of a crashed folder into its database, so that its pages can be changed. */
function moveLog(directory: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec("pragma user_version = 2");
  database.close();
}

for (const what of ["row", "page"] as const)
  test(`a damaged ${what} of one device's state does not keep a store from opening after a crash`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const [damaged = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
    const first = written(damaged, neverReported, 1, { extras: longExtras });
    await store.locations.commit(batchOf(first));
    await store.seal(damaged.key);
    const second = following(damaged, first.state);
    const others = following(other, neverReported);
    await store.locations.commit(batchOf(second, others));
    const copy = crashed(context, directory);
    moveLog(copy);
    if (what === "page") damagePages(join(copy, "waybeam.db"), "Q");
    else {
      const database = new DatabaseSync(join(copy, "waybeam.db"));
      database.prepare("update device_state set data = x'01020304' where device = ?").run(damaged.key);
      database.close();
    }
    const again = await openStore(copy);
    assert.deepEqual(await again.locations.states([other.key]), [others.state]);
    await assert.rejects(again.locations.states([damaged.key]));
    const next = following(other, others.state);
    assert.equal(await again.locations.commit(batchOf(next)), undefined);
    // Nothing is built on a state that lacks records.
    const third = following(damaged, first.state);
    await assert.rejects(async () => {
      const conflict = await again.locations.commit(batchOf(third));
      if (conflict !== undefined) throw new Error("conflict");
    });
    assert.deepEqual(await again.locations.states([other.key]), [next.state]);
  });

test("row numbers of an earlier run are not given again: a state of that run would seem to include the new rows", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), gone = assert.fail()] = await devicesOf(store, 2);
  const first = following(device, neverReported);
  await store.locations.commit(batchOf(first));
  let state: DeviceState = neverReported;
  for (let round = 0; round < 5; round++) {
    const commit = following(gone, state);
    await store.locations.commit(batchOf(commit));
    ({ state } = commit);
  }
  // A state that is written without records, as time alone changes it.
  const ticked = { ...first.state, version: first.state.version + 1, rules: "[]" };
  const tick: DeviceCommit = { device: device.key, records: [], patches: [], state: ticked };
  await store.locations.commit(batchOf(tick));
  await store.devices.remove(gone.key);
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  while (database.prepare("select 1 from purge").get() !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 10));
  database.close();
  for (const end of ["crashes", "closes"] as const) {
    const copy = end === "crashes" ? crashed(context, directory) : directory;
    if (end === "closes") await store.close();
    const again = await openStore(copy);
    const second = following(device, ticked);
    assert.equal(await again.locations.commit(batchOf(second)), undefined);
    const last = await openStore(crashed(context, copy));
    const [found = assert.fail()] = await last.locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(second.state), end);
  }
});

test("a damaged number of the row up to which states are written loses no records", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const first = following(device, neverReported);
  await store.locations.commit(batchOf(first));
  for (const damaged of ["q", "-7", String(2 ** 52)]) {
    const copy = crashed(context, directory);
    setStatesAsOf(copy, damaged);
    assert.deepEqual(await findingsOf(copy), []);
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(first.state));
    await again.close();
  }
});

test("and makes no record of an older version count twice", async (context) => {
  const directory = folder(context);
  let store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const first = written(device, neverReported);
  await store.locations.commit(batchOf(first));
  await store.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  backToBlocks(database);
  database.close();
  store = await openStore(directory);
  await store.close();
  setStatesAsOf(directory, "q");
  store = await openStore(directory);
  assert.deepEqual(await store.locations.states([device.key]), [first.state]);
});

test("a state that can't be written is made again after a crash, whatever became of the others", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
  const [first, others] = [written(device, neverReported), following(other, neverReported)];
  await store.locations.commit(batchOf(first, others));
  const second = following(device, first.state);
  await store.locations.commit(batchOf(second));
  // As where the pages that hold the old state can be read and not be given back.
  const file = join(directory, "waybeam.db");
  const database = new DatabaseSync(file);
  database.exec(`create trigger stuck before update on device_state when old.device = ${device.key}
    begin select raise(fail, 'stuck'); end`);
  database.close();
  await store.close();
  const again = new DatabaseSync(file);
  again.exec("drop trigger stuck");
  again.close();
  const last = await openStore(directory);
  const found = await last.locations.states([device.key, other.key]);
  assert.deepEqual(found.map(withoutVersion), [second.state, others.state].map(withoutVersion));
  assert.equal((await readAll(last, device.key)).count, 2);
});

test("a state that can't be written for long is made again from rows that are far apart", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 300);
  const [stuck = assert.fail()] = devices;
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(`create trigger stuck before update on device_state when old.device = ${stuck.key}
    begin select raise(fail, 'stuck'); end`);
  database.close();
  const states = new Map(devices.map((device) => [device, neverReported]));
  for (let round = 0; round < 80; round++) {
    const commits = devices.map((device) => following(device, states.get(device) ?? assert.fail()));
    assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
    for (const [index, device] of devices.entries()) states.set(device, commits[index]?.state ?? assert.fail());
  }
  const again = await openStore(crashed(context, directory));
  const found = await again.locations.states(devices.map(({ key }) => key));
  assert.deepEqual(found.map(withoutVersion), [...states.values()].map(withoutVersion));
});

for (const column of ["last", "count"])
  test(`a damaged number in a row of the tail (${column}) does not spoil the state for good`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const [device = assert.fail()] = await devicesOf(store, 1);
    const first = following(device, neverReported);
    const second = following(device, first.state);
    for (const commit of [first, second]) await store.locations.commit(batchOf(commit));
    const copy = crashed(context, directory);
    const database = new DatabaseSync(join(copy, "waybeam.db"));
    database.prepare(`update tail set ${column} = 8000000000000000 where seq = 2`).run();
    database.exec("pragma user_version = 2");
    database.close();
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([device.key]);
    assert.ok(found.time <= second.state.time);
    assert.ok(found.arrivals <= second.state.arrivals + 1000);
    const third = following(device, found);
    assert.equal(await again.locations.commit(batchOf(third)), undefined);
  });
