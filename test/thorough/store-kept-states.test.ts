import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import type { Device } from "../../src/model/device.ts";
import { type DeviceState, neverReported } from "../../src/model/location.ts";
import { batchOf, readAll } from "../contract/store/records.ts";
import { crashed, devicesOf, findingsOf, folder, following, withoutVersion } from "../support/kept-states.ts";
import { openStore } from "../support/store.ts";

function rowOf(directory: string, device: Device) {
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const row = database.prepare("select version, as_of from device_state where device = ?").get(device.key);
  database.close();
  return { ...row };
}

test("a state that follows is told though it is not written, and is there after a crash", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), silent = assert.fail()] = await devicesOf(store, 2);
  const first = following(device, neverReported, 300);
  const second = following(device, first.state);
  for (const commit of [first, second]) assert.equal(await store.locations.commit(batchOf(commit)), undefined);
  assert.deepEqual(await store.locations.states([silent.key, device.key]), [neverReported, second.state]);
  assert.deepEqual(rowOf(directory, device), { version: 0, as_of: 0 });

  const copy = crashed(context, directory);
  assert.deepEqual(await findingsOf(copy), []);
  const again = await openStore(copy);
  const [found = assert.fail()] = await again.locations.states([device.key]);
  assert.deepEqual(withoutVersion(found), withoutVersion(second.state));
  const third = following(device, found);
  assert.equal(await again.locations.commit(batchOf(third)), undefined);
  assert.equal((await readAll(again, device.key)).count, 302);
  // A clean end writes it.
  await again.close();
  assert.equal(rowOf(copy, device).version, third.state.version);
  const last = await openStore(copy);
  assert.deepEqual(await last.locations.states([device.key]), [third.state]);
});

test("a commit for another version than the kept one is a conflict, and so is one for a device that is gone", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
  const first = following(device, neverReported);
  await store.locations.commit(batchOf(first));
  assert.deepEqual(await store.locations.commit(batchOf(first, following(other, neverReported))), {
    conflicts: [device.key],
  });
  assert.deepEqual(await store.locations.states([device.key, other.key]), [first.state, neverReported]);
  await store.devices.remove(device.key);
  const second = following(device, first.state);
  assert.deepEqual(await store.locations.commit(batchOf(second)), { conflicts: [device.key] });
  assert.deepEqual(await store.locations.states([device.key]), [neverReported]);
});

test("kept states are written before their rows of the tail are sealed, and before a commit that writes them", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [sealed = assert.fail(), late = assert.fail()] = await devicesOf(store, 2);
  const states = new Map<Device, DeviceState>();
  for (const device of [sealed, late]) {
    const commit = following(device, neverReported, 20);
    await store.locations.commit(batchOf(commit));
    states.set(device, commit.state);
  }
  await store.seal(sealed.key);
  assert.equal(rowOf(directory, sealed).version, 1);
  const before = states.get(late) ?? assert.fail();
  const { follows: _, ...written } = following(late, before);
  assert.equal(await store.locations.commit(batchOf(written)), undefined);
  assert.equal(rowOf(directory, late).version, 2);
  const again = await openStore(crashed(context, directory));
  assert.deepEqual(await again.locations.states([sealed.key, late.key]), [states.get(sealed), written.state]);
});

test("after thousands of rows kept states are written, and a start after a crash reads no row before them", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 600);
  const states = new Map<Device, DeviceState>(devices.map((device) => [device, neverReported]));
  for (let round = 0; round < 30; round++) {
    const commits = devices.map((device) => following(device, states.get(device) ?? assert.fail()));
    assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
    commits.forEach(({ state }, index) => {
      states.set(devices[index] ?? assert.fail(), state);
    });
  }
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const asOf = () => Number(database.prepare("select value from setting where name = 'states'").get()?.value);
  while (asOf() === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  database.close();
  assert.ok(asOf === undefined || devices.every((device) => Number(rowOf(directory, device).version) >= 27));
  const again = await openStore(crashed(context, directory));
  const found = await again.locations.states(devices.map(({ key }) => key));
  assert.deepEqual(found.map(withoutVersion), [...states.values()].map(withoutVersion));
});

test("a damaged row of the tail costs its own records: the state after a crash is that of the rows behind it", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const first = following(device, neverReported, 3);
  const second = following(device, first.state, 2);
  for (const commit of [first, second]) await store.locations.commit(batchOf(commit));
  for (const [row, expected] of [
    [1, second.state],
    // No record tells its totals. Its numbers are not given again.
    [2, { ...first.state, arrivals: second.state.arrivals }],
  ] as const) {
    const copy = crashed(context, directory);
    const database = new DatabaseSync(join(copy, "waybeam.db"));
    database.prepare("update tail set data = zeroblob(10) where seq = ?").run(row);
    // Closing moves the log into the database, so that it counts as closed.
    database.exec("pragma user_version = 2");
    database.close();
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(expected));
    await again.close();
  }
});

const steps = fc.array(
  fc.record({
    device: fc.nat(4),
    count: fc.integer({ min: 1, max: 3 }),
    what: fc.constantFrom("follows", "follows", "follows", "writes", "seals", "crashes", "closes"),
  }),
  { minLength: 5, maxLength: 20 },
);

test("whatever is committed, sealed and cut off, states are those of the last commits", {
  timeout: 120_000,
}, async (context) => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      let directory = folder(context);
      let store = await openStore(directory);
      const devices = await devicesOf(store, 5);
      const states = new Map<Device, DeviceState>(devices.map((device) => [device, neverReported]));
      const compare = async () => {
        const found = await store.locations.states(devices.map(({ key }) => key));
        assert.deepEqual(found.map(withoutVersion), [...states.values()].map(withoutVersion));
        devices.forEach((device, index) => {
          states.set(device, found[index] ?? assert.fail());
        });
      };
      for (const { device: index, count, what } of all) {
        const device = devices[index] ?? assert.fail();
        if (what === "seals") await store.seal(device.key);
        else if (what === "crashes" || what === "closes") {
          const copy = what === "crashes" ? crashed(context, directory) : directory;
          await store.close();
          directory = copy;
          store = await openStore(directory);
        } else {
          const { follows, ...commit } = following(device, states.get(device) ?? assert.fail(), count);
          const state = what === "writes" ? { ...commit.state, rules: `["${commit.state.version}"]` } : commit.state;
          const made = { ...commit, state, ...(what === "follows" && { follows }) };
          assert.equal(await store.locations.commit(batchOf(made)), undefined);
          states.set(device, state);
        }
        await compare();
      }
      await store.close();
      assert.deepEqual(await findingsOf(directory), []);
    }),
    { numRuns: 12 },
  );
});
