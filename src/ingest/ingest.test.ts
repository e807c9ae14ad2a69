import assert from "node:assert/strict";
import { test } from "node:test";
import { device } from "../../test/support/records.ts";
import { admitted, fix, setUp, start, submit } from "../../test/support/troubled-store.ts";
import { byPlace, noTotals } from "../model/location.ts";
import { StoreUnavailable } from "../ports/store.ts";

test("a device that was only edited while its reports waited is stored all the same", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  const held = await admitted(ingest, "a");
  const stored = submit(ingest, held, 1, outcomes);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await stored;
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("the last location is right after a commit whose answer was lost, though nothing of it is left to be stored", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  await submit(ingest, one, 100, []);
  store.readContext = async (_limit, time) => {
    const records = store.commits.flatMap(({ devices }) => devices.flatMap((commit) => commit.records)).sort(byPlace);
    const before = records.findLast((record) => record.time < time);
    return { ...(before && { before }), from: records.filter((record) => record.time >= time), more: false };
  };
  const commit = store.commit.bind(store);
  store.commit = async (batch, written) => {
    store.commit = commit;
    await commit(batch, written);
    throw new StoreUnavailable("the writer died");
  };
  const outcomes: string[] = [];
  await Promise.all([submit(ingest, one, 50, outcomes), submit(ingest, one, 200, outcomes)]);
  assert.deepEqual(outcomes, ["stored", "stored"]);
  assert.deepEqual(store.stored, [
    [1, 1],
    [1, 2],
  ]);
  assert.match((await ingest.states.lastLocation(1, 0)) ?? "", /"2026-06-01T00:03:20.000Z"/);
  await ingest.stop();
});

test("what a reply lets in is committed too, be it the last of the run", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  for (let second = 1; second <= 5; second++) {
    const outcomes: string[] = [];
    // The next is submitted from within the answer to the one before, as a session does that was not ready for more.
    const after = await new Promise<Promise<void>>((resolve) =>
      ingest.submit(one, [fix(second * 2)], start, (outcome) => {
        outcomes.push(outcome);
        resolve(submit(ingest, one, second * 2 + 1, outcomes));
      }),
    );
    await after;
    assert.deepEqual(outcomes, ["stored", "stored"]);
  }
  await ingest.stop();
  assert.equal(store.stored.length, 10);
});

test("what the last replies let in while it stops is committed before it has stopped", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  const outcomes: string[] = [];
  ingest.submit(one, [fix(1)], start, () => void submit(ingest, one, 2, outcomes));
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored"]);
  assert.equal(store.stored.length, 2);
});

test("a device that is gone is refused, once, and costs the others of its batch one more try", async () => {
  const { store, ingest } = setUp();
  const gone: string[] = [];
  const good: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  store.devices = store.devices.filter(({ id }) => id !== "a");
  let tries = 0;
  store.trouble = Array.from({ length: 20 }, () => () => {
    tries++;
    return undefined;
  });
  await Promise.all([submit(ingest, first, 1, gone), submit(ingest, second, 1, good)]);
  await ingest.stop();
  assert.deepEqual(gone, ["refused"]);
  assert.deepEqual(good, ["stored"]);
  assert.deepEqual(store.stored, [[2, 1]]);
  assert.equal(tries, 2);
});

test("while the store is down nobody is answered, and then everybody once", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  store.down = 2;
  store.trouble = [() => Promise.reject(new StoreUnavailable("disk full"))];
  const held = await admitted(ingest, "a");
  const expiring = await admitted(ingest, "b");
  const waiting = [submit(ingest, held, 1, outcomes), submit(ingest, expiring, 1, outcomes)];
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.equal(ingest.congested, true);
  assert.deepEqual(outcomes, []);
  store.devices = store.devices.filter(({ id }) => id !== "b");
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 2, id: "b" });
  const drained = new Promise<void>((resolve) => ingest.onDrained(resolve));
  await Promise.all([...waiting, drained]);
  await ingest.stop();
  assert.deepEqual(outcomes.sort(), ["refused", "stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("one device that can't be committed fails alone", async () => {
  const { store, ingest } = setUp();
  const bad: string[] = [];
  const good: string[] = [];
  const poison = () => Promise.reject(new Error("a defect"));
  store.trouble = [poison, poison, () => undefined];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  await Promise.all([submit(ingest, first, 1, bad), submit(ingest, second, 1, good)]);
  await ingest.stop();
  assert.deepEqual(bad, ["failed"]);
  assert.deepEqual(good, ["stored"]);
  assert.deepEqual(store.stored, [[2, 1]]);
});

test("a store that is down does not hold up the stop, and nothing is acknowledged", async () => {
  const { store, ingest } = setUp();
  const outcomes: string[] = [];
  store.down = 1;
  store.trouble = Array.from({ length: 1000 }, () => () => Promise.reject(new StoreUnavailable("disk full")));
  ingest.submit(await admitted(ingest, "a"), [fix(1)], start, (outcome) => outcomes.push(outcome));
  await ingest.stop();
  assert.deepEqual(outcomes, []);
});

test("reports of one batch share a commit; those that come meanwhile share the next", async () => {
  const { store, ingest } = setUp();
  const outcomes: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  await Promise.all([
    submit(ingest, first, 1, outcomes),
    submit(ingest, second, 1, outcomes),
    submit(ingest, first, 2, outcomes),
  ]);
  await ingest.stop();
  assert.equal(store.commits.length, 1);
  assert.equal(store.states.get(1)?.version, 1);
});

test("the next batch is with the store before the replies to the last one are written, and all are before the stop", async () => {
  const { store, ingest } = setUp();
  const order: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  const written = Promise.withResolvers<undefined>();
  const asked = Promise.withResolvers<void>();
  store.trouble = [
    () => {
      asked.resolve();
      return undefined;
    },
    () => {
      order.push("second commit");
      return undefined;
    },
  ];
  const commit = store.commit.bind(store);
  store.commit = async (batch, emptied) => {
    const answer = await commit(batch, emptied);
    await written.promise;
    return answer;
  };
  ingest.submit(first, [fix(1)], start, () => order.push("first reply"));
  await asked.promise;
  ingest.submit(second, [fix(1)], start, () => order.push("second reply"));
  written.resolve(undefined);
  await ingest.stop();
  assert.deepEqual(order, ["second commit", "first reply", "second reply"]);
});

test("who reports while only devices wait that are held back is committed at once", async (context) => {
  const { store, clock, ingest } = setUp();
  context.after(() => ingest.stop());
  const slow = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  store.states.set(1, { version: 1, time: start + 900_000, arrivals: 0, totals: noTotals });
  // A first position before all of these changes each of them.
  store.history = Array.from({ length: 300 }, (_, index) => ({
    time: start + 10_000 + index * 1000,
    arrival: index,
    hash: index,
    receivedAt: start,
    valid: false,
    latitude: 0,
    longitude: 0,
    unlocated: true,
    extras: "",
    totals: noTotals,
  }));
  store.trouble = [
    () => {
      clock.time += 1000;
      return undefined;
    },
  ];
  const outcomes: string[] = [];
  await submit(ingest, slow, 1, outcomes);
  const held = submit(ingest, slow, 2, []);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  for (let turns = 0; turns < 5; turns++) await turn();
  const told = submit(ingest, other, 1, outcomes);
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.equal(outcomes.length, 2);
  await ingest.stop();
  await Promise.all([held, told]);
});

test("an answer that throws keeps no other from being given, nor the next commit", async () => {
  const { ingest } = setUp();
  const outcomes: string[] = [];
  const one = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  ingest.submit(one, [fix(1)], start, () => {
    throw new Error("a defect");
  });
  ingest.onDrained(() => {
    throw new Error("a defect");
  });
  await Promise.all([submit(ingest, one, 2, outcomes), submit(ingest, other, 1, outcomes)]);
  await submit(ingest, one, 3, outcomes);
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored", "stored", "stored"]);
});

test("a fleet's backlog goes in shares: who reports as usual is in the next commit", async () => {
  const { store, ingest } = setUp();
  store.devices = Array.from({ length: 21 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  const fleet = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const usual = fleet[20];
  assert.ok(usual);
  const outcomes: string[] = [];
  await Promise.all(fleet.map((one) => submit(ingest, one, 500, outcomes)));
  const before = store.commits.length;
  const packet = Array.from({ length: 100 }, (_, index) => fix(index));
  const waiting = fleet
    .slice(0, 20)
    .map((one) => new Promise<string>((resolve) => ingest.submit(one, packet, start, resolve)));
  await submit(ingest, usual, 501, outcomes);
  const [first] = store.commits.slice(before);
  assert.ok(first);
  assert.ok(first.devices.some(({ device: key }) => key === 21));
  const late = first.devices.filter(({ device: key }) => key !== 21);
  assert.ok(late.length > 0 && late.length <= 10, `${late.length} devices of 100 late reports each`);
  assert.deepEqual(
    await Promise.all(waiting),
    Array.from({ length: 20 }, () => "stored"),
  );
  await ingest.stop();
});

test("who reports as usual waits for no more than one commit of devices that send days in one piece", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  store.devices = Array.from({ length: 21 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  const fleet = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const usual = fleet[20];
  assert.ok(usual);
  const packet = Array.from({ length: 2000 }, (_, index) => fix(index - 2000));
  const waiting = fleet
    .slice(0, 20)
    .map((one) => new Promise<string>((resolve) => ingest.submit(one, packet, start, resolve)));
  await submit(ingest, usual, 1, []);
  const [first] = store.commits;
  assert.ok(first);
  assert.ok(first.devices.some(({ device: key }) => key === 21));
  assert.ok(first.devices.length < 15, "the others are more than a commit holds");
  assert.equal((await Promise.all(waiting)).length, 20);
});

test("a report that is slow to look for among others of its moment takes a tenth of the time: nobody else waits for the next", async (context) => {
  const { store, clock, ingest } = setUp();
  context.after(() => ingest.stop());
  const stuck = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  store.states.set(1, { version: 1, time: start, arrivals: 0, totals: noTotals });
  store.readMoment = async () => {
    clock.time += 100;
    return { hashes: [1] };
  };
  const told: string[] = [];
  await submit(ingest, stuck, 0, []);
  const began = clock.time;
  const held = submit(ingest, stuck, 0, told);
  await submit(ingest, other, 1, []);
  await submit(ingest, other, 2, []);
  assert.deepEqual(told, []);
  assert.equal(clock.time, began);
  clock.time += 10_000;
  await held;
  assert.deepEqual(told, ["stored"]);
});

test("a service that is about to stop holds back nobody: who waits is answered before the connections end", async (context) => {
  const { store, clock, ingest } = setUp();
  context.after(() => ingest.stop());
  const stuck = await admitted(ingest, "a");
  store.states.set(1, { version: 1, time: start, arrivals: 1, totals: noTotals });
  store.readMoment = async () => {
    clock.time += 100;
    return { hashes: [1] };
  };
  await submit(ingest, stuck, 0, []);
  const told: string[] = [];
  const held = submit(ingest, stuck, 0, told);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, []);
  ingest.hurry();
  await held;
  assert.deepEqual(told, ["stored"]);
});

test("who was stored is told at once, also where a held device reports in the very moment after the commit", async (context) => {
  for (let later = 0; later < 40; later++) {
    const { store, clock, ingest } = setUp();
    context.after(() => ingest.stop());
    const stuck = await admitted(ingest, "a");
    const other = await admitted(ingest, "b");
    store.states.set(1, { version: 1, time: start, arrivals: 1, totals: noTotals });
    store.readMoment = async () => {
      clock.time += 100;
      return { hashes: [1] };
    };
    await submit(ingest, stuck, 0, []);
    const commit = store.commit.bind(store);
    let held: Promise<void> | undefined;
    store.commit = async (batch, written) => {
      store.commit = commit;
      const answer = await commit(batch, written);
      let steps = Promise.resolve();
      for (let step = 0; step < later; step++) steps = steps.then(() => undefined);
      void steps.then(() => {
        held = submit(ingest, stuck, 0, []);
      });
      return answer;
    };
    const told: string[] = [];
    const stored = submit(ingest, other, 1, told);
    for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(told, ["stored"], `${later} steps later`);
    await ingest.stop();
    await Promise.all([stored, held]);
  }
});

test("a clock that stands still costs one reading of its moment; repeats are known, and the last report to come is the last location", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const stuck = await admitted(ingest, "a");
  let readings = 0;
  store.readMoment = async () => {
    readings++;
    return {
      hashes: store.commits.flatMap(({ devices }) => devices.flatMap(({ records }) => records.map(({ hash }) => hash))),
    };
  };
  const latitudeOf = (number: number) => number / 1000;
  const report = (number: number) => ({ ...fix(0), latitude: latitudeOf(number) });
  const send = (number: number) =>
    new Promise<string>((resolve) => ingest.submit(stuck, [report(number)], start, resolve));
  for (let turn = 0; turn < 2; turn++)
    for (let number = 0; number < 40; number++) assert.equal(await send(number), "stored");
  assert.equal(readings, 1);
  const records = store.commits.flatMap(({ devices }) => devices.flatMap((device) => device.records));
  assert.deepEqual(
    records.map(({ latitude }) => latitude),
    Array.from({ length: 40 }, (_, number) => latitudeOf(number)),
  );
  assert.equal(new Set(records.map(({ arrival }) => arrival)).size, 40);
  assert.equal(ingest.states.get(stuck.key)?.last?.latitude, latitudeOf(39));
});
