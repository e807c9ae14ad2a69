import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { followedState } from "../../src/fold/state.ts";
import { firstArrival, neverReported } from "../../src/model/location.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { batchOf, readAll, record } from "../contract/store/records.ts";
import { chance, delivery, drive } from "../support/any-order.ts";
import { Deleting } from "../support/deleting.ts";
import { crashed, devicesOf, findingsOf, folder, following, withoutVersion } from "../support/kept-states.ts";
import { openStore } from "../support/store.ts";
import { unreliable } from "../support/unreliable.ts";
import { worldFor } from "../support/world-for.ts";

const cases = fc.record({
  seed: fc.integer(),
  count: fc.constantFrom(300, 1500, 2600),
  way: fc.constantFrom("any order", "newest first", "late parts", "late parts"),
  atOnce: fc.constantFrom(3, 7, 40, 200),
  seals: fc.boolean(),
});

test("whatever is deleted, in any order, sealed, ended and cut off in between, what is left is that of the plain fold over all that was accepted", {
  timeout: 200_000,
}, async (context) => {
  let deleted = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ seed, count, way, atOnce, seals }) => {
      const random = chance(seed);
      const history = drive(random, count);
      const delivered = delivery(history, random, way);
      const one = await Deleting.begin(context, seals);
      const first = history[0]?.time ?? 0;
      const span = (history.at(-1)?.time ?? 0) - first;
      for (let at = 0; at < delivered.length; ) {
        const some = delivered.slice(at, at + Math.ceil(random() * atOnce));
        at += some.length;
        const before = first + span * Math.min(1, (random() * at * 1.2) / delivered.length);
        await one.deliver(some, random() < 0.3 ? before : undefined);
        // At a moment that comes once in a while, everything is old.
        if (random() < 0.1) await one.delete(random() < 0.1 ? Number.MAX_SAFE_INTEGER : before);
        if (random() < 0.05) await one.world.store.seal(one.device.key);
        const rare = (3 * some.length) / delivered.length;
        if (random() < rare) await (random() < 0.5 ? one.crash() : one.reopen());
        if (random() < rare) await one.compare(`on the way, seed ${seed}`);
      }
      await one.compare(`as it lies, seed ${seed}`);
      // All comes again: what was deleted is not stored again, and nothing is counted twice.
      const { keptFrom } = one;
      const again = delivered.filter(({ time }) => time < keptFrom || random() < 0.1);
      await one.deliver(again);
      await one.compare(`after repeats, seed ${seed}`);
      await one.world.store.seal(one.device.key);
      await one.compare(`sealed, seed ${seed}`);
      deleted += one.deleted;
      await one.end();
    }),
    { numRuns: 6 },
  );
  context.diagnostic(`${deleted} positions were deleted`);
  assert.ok(deleted > 0);
});

test("the same whichever calls fail, are done unheard, or kill their worker", { timeout: 120_000 }, async (context) => {
  let deleted = 0;
  for (let round = 0; round < 4; round++) {
    const seed = Math.floor(Math.random() * 1e9);
    const random = chance(seed);
    const history = drive(random, 2000);
    const delivered = delivery(history, random, "late parts");
    const one = await Deleting.begin(context, round % 2 === 0);
    const first = history[0]?.time ?? 0;
    const span = (history.at(-1)?.time ?? 0) - first;
    const faults = unreliable(random, { append: 0.03, drop: 0.4, swap: 0.2, forget: 0.2, seal: 0.1 });
    try {
      for (let at = 0; at < delivered.length; ) {
        const some = delivered.slice(at, at + Math.ceil(random() * 60));
        at += some.length;
        const before = first + (span * random() * at) / delivered.length;
        await one.deliver(some, random() < 0.5 ? before : undefined);
      }
    } finally {
      faults.end();
    }
    const failed = [...faults.failed].map(([what, times]) => `${what} ${times}`).join(", ");
    context.diagnostic(`${seed}: ${one.deleted} deleted; ${failed}`);
    await one.compare(`seed ${seed}`);
    await one.crash();
    await one.compare(`seed ${seed}, after a crash`);
    deleted += one.deleted;
    await one.end();
  }
  // The faults of a single round may leave nothing that is old enough and can be deleted.
  assert.ok(deleted > 0);
});

/** A store with a device that has three chunks: of the minutes 10 to 19, 30 to 39, and a late one of minute 5, which has the highest row number. */
async function withLateChunk(context: TestContext) {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const made = (from: number, count: number, number: number) =>
    Array.from({ length: count }, (_, at) => record((from + at) * 60, { arrival: firstArrival + number + at }));
  let state = neverReported;
  for (const records of [made(10, 10, 0), made(30, 10, 10)]) {
    state = followedState(state, records);
    const commit = { device: device.key, records, patches: [], state, follows: true as const };
    assert.equal(await store.locations.commit(batchOf(commit)), undefined);
  }
  const late = made(5, 1, 20);
  state = { ...state, version: state.version + 1, arrivals: 21 };
  assert.equal(
    await store.locations.commit(batchOf({ device: device.key, records: late, patches: [], state })),
    undefined,
  );
  const timeOf = (minute: number) => record(minute * 60).time;
  const [old] = await store.locations.oldPositions([device.key], timeOf(25));
  state = { ...state, version: state.version + 1, keptFrom: timeOf(19) + 1 };
  assert.equal(
    await store.locations.commit(batchOf({ device: device.key, records: [], patches: [], state })),
    undefined,
  );
  return { directory, store, device, state, old, timeOf };
}

test("a row number that a state includes is not given again after a crash, so that no state lacks the records of its row", async (context) => {
  const { directory, store, device, state, old, timeOf } = await withLateChunk(context);
  // The chunk of minute 5 has the highest row number, and that of minute 19 is the newest of the old ones.
  assert.equal(old?.count, 0);
  assert.deepEqual(await store.locations.deleteOld(device.key, timeOf(25)), { positions: 0, more: false });
  const first = crashed(context, directory);
  const again = await openStore(first);
  const commit = following(device, state);
  assert.equal(await again.locations.commit(batchOf(commit)), undefined);
  // Now the late chunk may go.
  assert.deepEqual(await again.locations.deleteOld(device.key, timeOf(19) + 1), { positions: 1, more: false });
  const second = crashed(context, first);
  assert.deepEqual(await findingsOf(second), []);
  const last = await openStore(second);
  const [found = assert.fail()] = await last.locations.states([device.key]);
  assert.deepEqual(withoutVersion(found), withoutVersion(commit.state));
  assert.equal((await readAll(last, device.key)).count, 21);
});

test("a damaged row number is no reason to delete the row whose number a state includes", async (context) => {
  const { directory, device, state, timeOf } = await withLateChunk(context);
  const damaged = crashed(context, directory);
  const database = new DatabaseSync(join(damaged, "waybeam.db"));
  // The chunk of the minutes 30 to 39.
  database.exec("update tail set seq = (1 << 52) + 1 where seq = 2; pragma user_version = 2");
  database.close();
  const again = await openStore(damaged);
  // The late chunk has the highest number that can be right.
  const deleted = await again.locations.deleteOld(device.key, timeOf(19) + 1);
  const first = crashed(context, damaged);
  const next = await openStore(first);
  const commit = following(device, state);
  assert.equal(await next.locations.commit(batchOf(commit)), undefined);
  const last = await openStore(crashed(context, first));
  const [found = assert.fail()] = await last.locations.states([device.key]);
  assert.deepEqual(withoutVersion(found), withoutVersion(commit.state));
  assert.deepEqual(deleted, { positions: 0, more: false });
});

test("what is missing beside what was deleted is found", async (context) => {
  const { directory, store, device, timeOf } = await withLateChunk(context);
  // Takes the highest row number, so that the late chunk may go.
  const [state = assert.fail()] = await store.locations.states([device.key]);
  assert.equal(await store.locations.commit(batchOf(following(device, state, 4))), undefined);
  assert.deepEqual(await store.locations.deleteOld(device.key, timeOf(19) + 1), { positions: 1, more: false });
  await store.close();
  assert.deepEqual(await findingsOf(directory), []);
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec("delete from tail where seq = 2");
  database.close();
  assert.deepEqual(
    (await findingsOf(directory)).map(({ problem }) => problem),
    ["10 of its 24 positions are missing"],
  );
});

test("who reads while positions are deleted and sealed sees all that is kept, once and in order", async (context) => {
  const world = await worldFor(context);
  const account = await makeAccount(world.store);
  const device = await makeDevice(world.store, account.key);
  const admitted = await world.admitted(device.id);
  const fixes = drive(chance(7), 4000);
  for (let at = 0; at < fixes.length; at += 20) await world.deliver(admitted, fixes.slice(at, at + 20));
  const { keeping } = world.ingest;
  const last = fixes.at(-1)?.time ?? 0;
  let deletes = true;
  let whole = 0;
  const reads = async () => {
    while (deletes) {
      const history = await world.history(device.key);
      const numbers = history.map(({ attributes }) => Number(attributes.number));
      const keptFrom = (await keeping.keptFrom(device.key)) ?? 0;
      const seen = new Set(numbers);
      assert.equal(seen.size, numbers.length);
      assert.deepEqual(
        numbers,
        numbers.toSorted((one, other) => one - other),
      );
      for (const { time, attributes } of fixes)
        if (time >= keptFrom) assert.ok(seen.has(Number(attributes.number)), `${attributes.number}`);
      if (numbers.length > 0) whole++;
      await nextTurn();
    }
  };
  const deleting = async () => {
    const span = last - (fixes[0]?.time ?? 0);
    for (let part = 1; part <= 40; part++) {
      void world.store.seal(device.key);
      let more = true;
      for (; more; await sleep(2))
        more = (await keeping.deleteBefore(device.key, last - span + (span * part) / 41)).more;
    }
    deletes = false;
  };
  await Promise.all([deleting(), reads(), reads()]);
  context.diagnostic(`${whole} histories were read`);
  // A fortieth, the block that reaches into it, and the block before that, which stays.
  assert.ok((await world.history(device.key)).length < 100 + 2 * 512);
});
