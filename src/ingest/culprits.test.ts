import assert from "node:assert/strict";
import { test } from "node:test";
import { device } from "../../test/support/records.ts";
import { admitted, setUp, submit } from "../../test/support/troubled-store.ts";

test("a device that the store can't take holds up no other, wherever it stands, and is stored once it can be", async () => {
  for (const culprit of [1, 20, 40]) {
    const { store, clock, ingest } = setUp();
    store.devices = Array.from({ length: 40 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
    store.spoilt.add(culprit).add(21);
    const bad: string[] = [];
    const good: string[] = [];
    const waiting: Promise<void>[] = [];
    for (const { key, id } of store.devices) {
      const outcomes = key === culprit || key === 21 ? bad : good;
      waiting.push(submit(ingest, await admitted(ingest, id), 1, outcomes));
    }
    await Promise.all(waiting);
    assert.deepEqual(
      good,
      Array.from({ length: 38 }, () => "stored"),
    );
    assert.deepEqual(bad, ["failed", "failed"]);
    assert.equal(ingest.setAside(culprit)?.cause, "damaged");
    const commits = store.tries;
    const again = await admitted(ingest, "d2");
    for (let second = 2; second < 5; second++) {
      const more = [submit(ingest, again, second, good), submit(ingest, await admitted(ingest, "d21"), second, bad)];
      await Promise.all(more);
    }
    assert.equal(store.tries - commits, 3, "it costs the others' batches nothing more");
    store.spoilt.clear();
    for (let tries = 0; ingest.aside.size > 0 && tries < 100; tries++) {
      clock.time += 10_000;
      await submit(ingest, again, 10 + tries, good);
    }
    await ingest.stop();
    const stored = (key: number) => store.stored.reduce((sum, [of, records]) => sum + (of === key ? records : 0), 0);
    assert.deepEqual([stored(culprit), stored(21), ingest.aside.size], [1, 4, 0]);
  }
});

test("while it is found out which devices the store can't take, the others' commits go on", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const count = 64;
  const commit = store.commit.bind(store);
  store.commit = async (...given) => {
    await new Promise((resolve) => setImmediate(resolve));
    return commit(...given);
  };
  store.devices = Array.from({ length: count + 1 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  for (let key = 1; key <= count; key += 2) store.spoilt.add(key);
  const live = await admitted(ingest, `d${count + 1}`);
  const outcomes: string[] = [];
  const devices = await Promise.all(store.devices.slice(0, count).map(({ id }) => admitted(ingest, id)));
  const waiting = devices.map((one) => submit(ingest, one, 1, outcomes));
  const stored: string[] = [];
  while (store.tries === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let second = 1; outcomes.length < count; second++) {
    const before = store.tries;
    await submit(ingest, live, second, stored);
    assert.ok(store.tries - before <= 3, `a report waited for ${store.tries - before} commits`);
    // What a device of the failed batch reports meanwhile waits with it.
    if (second === 1) waiting.push(...devices.map((one) => submit(ingest, one, 2, outcomes)));
  }
  await Promise.all(waiting);
  assert.ok(stored.length > 10);
  assert.equal(outcomes.filter((outcome) => outcome === "stored").length, count);
  assert.equal(ingest.aside.size, count / 2);
});

test("devices that are set aside make nobody unready while they are of one account", async (context) => {
  for (const accounts of [1, 2]) {
    const { store, clock, ingest } = setUp();
    context.after(() => ingest.stop());
    store.devices = Array.from({ length: 12 }, (_, index) =>
      device({ key: index + 1, id: `d${index + 1}`, accountKey: 1 + (index % accounts) }),
    );
    for (const { key } of store.devices) store.spoilt.add(key);
    const outcomes: string[] = [];
    for (const { id } of store.devices) {
      clock.time += 1;
      await submit(ingest, await admitted(ingest, id), 1, outcomes);
    }
    assert.equal(ingest.aside.size, 12);
    if (accounts === 1) await ingest.check();
    else await assert.rejects(ingest.check(), /12 devices of 2 accounts are set aside/);
  }
});

test("who is stored is told, however long a try of what is set aside takes", async () => {
  const { store, clock, ingest } = setUp();
  const outcomes: string[] = [];
  const spoilt = await admitted(ingest, "a");
  const good = await admitted(ingest, "b");
  store.spoilt.add(1);
  await submit(ingest, spoilt, 1, outcomes);
  const trial = Promise.withResolvers<undefined>();
  store.trouble = [
    () => {
      // The try is due once this commit is done.
      clock.time += 60_000;
      return undefined;
    },
    () => trial.promise,
  ];
  await submit(ingest, good, 1, outcomes);
  assert.deepEqual(outcomes, ["failed", "stored"]);
  trial.resolve(undefined);
  await ingest.stop();
});

test("the first culprit is found after a few tries, however many there are", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const count = 256;
  store.devices = Array.from({ length: count }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  for (let key = 1; key <= count; key++) store.spoilt.add(key);
  const devices = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const tries: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = (...given) => {
    if (ingest.aside.size > 0) tries.push(store.tries);
    return commit(...given);
  };
  await Promise.all(devices.map((one) => submit(ingest, one, 1, [])));
  assert.ok((tries[0] ?? count) <= 10, `after ${tries[0]} tries`);
});

test("a trial of set-aside reports that is never answered is no progress, and ready says so", async (context) => {
  const { store, clock, ingest } = setUp();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  context.after(async () => {
    resolve(undefined);
    await ingest.stop();
  });
  store.spoilt.add(1);
  await submit(ingest, await admitted(ingest, "a"), 1, []);
  store.trouble = [() => promise];
  const { tries } = store;
  clock.time += 400_000;
  void submit(ingest, await admitted(ingest, "b"), 1, []);
  while (store.tries === tries) await new Promise((next) => setImmediate(next));
  await ingest.check();
  clock.time += 6000;
  await assert.rejects(ingest.check(), /nothing was committed for 6 s/);
});
