import assert from "node:assert/strict";
import { test } from "node:test";
import { device } from "../../test/support/records.ts";
import { admitted, fix, setUp, start, submit } from "../../test/support/troubled-store.ts";
import type { Report } from "../model/effects.ts";
import type { Admitted } from "../ports/intake.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { Ingest } from "./ingest.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function send(ingest: Ingest, to: Admitted, reports: readonly Report[]): Promise<string> {
  return new Promise((resolve) => ingest.submit(to, reports, start, resolve));
}

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

test("what is on disk is followed, with its place, before anybody is told", async () => {
  const { store, following, ingest } = setUp();
  const one = await admitted(ingest, "a");
  let followed = 0;
  store.answering = async () => assert.equal(following.batches.length, followed);
  for (let second = 1; second <= 3; second++)
    await new Promise<void>((resolve) =>
      ingest.submit(one, [fix(second), fix(-second)], start, () => {
        followed++;
        assert.equal(following.batches.length, followed);
        resolve();
      }),
    );
  await ingest.stop();
  assert.deepEqual(
    following.batches.map(({ batch, place }) => [
      place,
      ...batch.map(({ device: { key }, records }) => [key, records]),
    ]),
    store.appends.map((rows, at) => [at + 1, ...rows.map(({ device: key, records }) => [key, records])]),
  );
});

test("what a reply lets in is appended too, be it the last of the run", async () => {
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

test("what the last replies let in while it stops is appended before it has stopped", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  const outcomes: string[] = [];
  ingest.submit(one, [fix(1)], start, () => void submit(ingest, one, 2, outcomes));
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored"]);
  assert.equal(store.stored.length, 2);
});

test("a device that is gone is refused, once, and costs the others of its batch nothing", async () => {
  const { store, bus, ingest } = setUp();
  const gone: string[] = [];
  const good: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  const waiting = [submit(ingest, first, 1, gone), submit(ingest, second, 1, good)];
  store.devices = store.devices.filter(({ id }) => id !== "a");
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await Promise.all(waiting);
  await ingest.stop();
  assert.deepEqual(gone, ["refused"]);
  assert.deepEqual(good, ["stored"]);
  assert.deepEqual(store.stored, [[2, 1]]);
  assert.equal(store.tries, 1);
});

test("a device that is registered anew under its identifier is another one than reported", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  const waiting = submit(ingest, await admitted(ingest, "a"), 1, outcomes);
  store.devices = [device({ key: 3, id: "a" })];
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await waiting;
  await ingest.stop();
  assert.deepEqual(outcomes, ["refused"]);
  assert.deepEqual(store.stored, []);
});

test("a device that can't be looked up again fails alone", async () => {
  const { store, bus, ingest } = setUp();
  const bad: string[] = [];
  const good: string[] = [];
  const waiting = [
    submit(ingest, await admitted(ingest, "a"), 1, bad),
    submit(ingest, await admitted(ingest, "b"), 1, good),
  ];
  store.identifying = async ([id]) => {
    if (id === "a") throw new StoreUnavailable("a damaged row");
  };
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await Promise.all(waiting);
  await ingest.stop();
  assert.deepEqual([bad, good], [["failed"], ["stored"]]);
});

test("while the store is down nobody is answered, and then everybody once", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  store.down = 2;
  store.trouble = [() => Promise.reject(new StoreUnavailable("disk full"))];
  const held = await admitted(ingest, "a");
  const expiring = await admitted(ingest, "b");
  const waiting = [submit(ingest, held, 1, outcomes), submit(ingest, expiring, 1, outcomes)];
  await turn();
  await turn();
  assert.equal(ingest.congested, true);
  assert.equal(ingest.takes(held), false);
  assert.deepEqual(outcomes, []);
  store.devices = store.devices.filter(({ id }) => id !== "b");
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 2, id: "b" });
  const drained = new Promise<void>((resolve) => ingest.onDrained(resolve));
  await Promise.all([...waiting, drained]);
  await ingest.stop();
  assert.deepEqual(outcomes.sort(), ["refused", "stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("an append that fails after it was done is done again, and followed once", async () => {
  const { store, following, ingest } = setUp();
  store.answering = async () => {
    store.answering = undefined;
    throw new StoreUnavailable("the writer died");
  };
  const outcomes: string[] = [];
  const one = await admitted(ingest, "a");
  await Promise.all([submit(ingest, one, 1, outcomes), submit(ingest, one, 2, outcomes)]);
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored", "stored"]);
  assert.deepEqual(store.stored, [
    [1, 2],
    [1, 2],
  ]);
  assert.deepEqual(
    following.batches.map(({ place }) => place),
    [2],
  );
});

test("those whose append can't succeed fail alone", async () => {
  const { store, following, ingest } = setUp();
  store.devices = Array.from({ length: 9 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  const bad = new Set([1, 6, 7]);
  store.trouble = Array.from({ length: 100 }, () => async (batch) => {
    if (batch.some(({ device: key }) => bad.has(key))) throw new Error("a defect");
  });
  const all = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const outcomes = await Promise.all(all.map((one) => send(ingest, one, [fix(1)])));
  await ingest.stop();
  assert.deepEqual(
    outcomes.map((outcome, at) => [at + 1, outcome]),
    all.map(({ key }) => [key, bad.has(key) ? "failed" : "stored"]),
  );
  assert.ok(store.tries < 20, `${store.tries} tries`);
  const followed = following.batches.flatMap(({ batch }) => batch.map(({ device: { key } }) => key));
  assert.deepEqual(followed.toSorted(), [2, 3, 4, 5, 8, 9]);
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

test("reports of one batch share an append; those that come meanwhile share the next", async () => {
  const { store, ingest } = setUp();
  const outcomes: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  const waiting = [first, second, first].map((one, at) => submit(ingest, one, at, outcomes));
  const meanwhile: Promise<void>[] = [];
  store.trouble = [
    async () => {
      for (const at of [3, 4]) meanwhile.push(submit(ingest, second, at, outcomes));
    },
  ];
  await Promise.all(waiting);
  await Promise.all(meanwhile);
  await ingest.stop();
  assert.deepEqual(store.stored, [
    [1, 2],
    [2, 1],
    [2, 2],
  ]);
  assert.equal(store.appends.length, 2);
});

test("the next batch is with the store before the replies to the last one are written, and all are before the stop", async () => {
  const { store, ingest } = setUp();
  const order: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  const written = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  store.trouble = [
    async () => asked.resolve(),
    async () => {
      order.push("second append");
    },
  ];
  store.answering = () => written.promise;
  ingest.submit(first, [fix(1)], start, () => order.push("first reply"));
  await asked.promise;
  ingest.submit(second, [fix(1)], start, () => order.push("second reply"));
  written.resolve();
  await ingest.stop();
  assert.deepEqual(order, ["second append", "first reply", "second reply"]);
});

test("an answer that throws keeps no other from being given, nor the next append", async () => {
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

test("what a tracker sends again at once is acknowledged, heard of, and not appended again", async () => {
  const { store, following, ingest, counted } = setUp();
  const one = await admitted(ingest, "a");
  for (let time = 0; time < 3; time++) assert.equal(await send(ingest, one, [fix(1), fix(2)]), "stored");
  assert.equal(await send(ingest, one, [fix(2), fix(3)]), "stored");
  await ingest.stop();
  assert.deepEqual(store.stored, [
    [1, 2],
    [1, 1],
  ]);
  assert.deepEqual(following.heardOf, [
    [1, start],
    [1, start],
  ]);
  assert.equal(await counted("positions_appended_total"), 3);
  assert.equal(await counted("repeats_total"), 5);
});

test("a repeat of what failed is no repeat", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  store.trouble = [() => Promise.reject(new Error("a defect"))];
  assert.equal(await send(ingest, one, [fix(1)]), "failed");
  assert.equal(await send(ingest, one, [fix(1)]), "stored");
  await ingest.stop();
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("refused reports are kept once, before the message is acknowledged, though the append is tried again", async () => {
  const { store, following, ingest, counted } = setUp();
  const one = await admitted(ingest, "a");
  store.trouble = [() => Promise.reject(new StoreUnavailable("disk full"))];
  const beyond: Report = { ...fix(2), latitude: 91 };
  assert.equal(await send(ingest, one, [fix(1), beyond]), "stored");
  assert.equal(await send(ingest, one, [beyond]), "stored");
  await ingest.stop();
  assert.deepEqual(
    store.refused.map(({ cause, time }) => [cause, time]),
    Array.from({ length: 2 }, () => ["position", start + 2000]),
  );
  assert.deepEqual(store.stored, [[1, 1]]);
  assert.deepEqual(following.heardOf, [[1, start]]);
  assert.equal(await counted("reports_refused_total"), 2);
});

test("where refused reports can't be kept, their messages are not acknowledged, and others are", async () => {
  const { store, ingest } = setUp();
  const [one, other] = [await admitted(ingest, "a"), await admitted(ingest, "b")];
  store.refusing = () => Promise.reject(new StoreUnavailable("a damaged table"));
  const beyond: Report = { ...fix(2), latitude: 91 };
  const outcomes = await Promise.all([send(ingest, one, [beyond]), send(ingest, other, [fix(1)])]);
  assert.deepEqual(outcomes, ["failed", "stored"]);
  store.refusing = undefined;
  assert.equal(await send(ingest, one, [beyond]), "stored");
  await ingest.stop();
  assert.equal(store.refused.length, 1);
});

test("a message without anything to keep is acknowledged, and its device heard of", async () => {
  const { store, following, ingest } = setUp();
  const nothing: Report = { type: "readings", time: start, alarms: [], readings: {}, attributes: {} };
  assert.equal(await send(ingest, await admitted(ingest, "a"), [nothing]), "stored");
  ingest.heard(await admitted(ingest, "b"), start + 5);
  await ingest.stop();
  assert.equal(store.tries, 0);
  assert.deepEqual(following.heardOf, [
    [1, start],
    [2, start + 5],
  ]);
});

test("while too much waits to be followed nothing more is read, and who waits is told when that is over", async () => {
  const { following, ingest } = setUp();
  const one = await admitted(ingest, "a");
  let drained = 0;
  ingest.onDrained(() => drained++);
  following.isFull = true;
  assert.equal(ingest.congested, true);
  assert.equal(ingest.takes(one), false);
  // What was read before is appended all the same.
  assert.equal(await send(ingest, one, [fix(1)]), "stored");
  assert.equal(drained, 0);
  following.isFull = false;
  assert.equal(ingest.congested, false);
  assert.equal(drained, 1);
  await ingest.stop();
});

test("who reports as usual waits for no more than one append of devices that send days in one piece", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  store.devices = Array.from({ length: 21 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  const fleet = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const usual = fleet[20];
  assert.ok(usual);
  const packet = Array.from({ length: 2000 }, (_, index) => fix(index - 2000));
  const waiting = fleet.slice(0, 20).map((one) => send(ingest, one, packet));
  await submit(ingest, usual, 1, []);
  const [first] = store.appends;
  assert.ok(first);
  assert.ok(first.some(({ device: key }) => key === 21));
  assert.ok(first.length < 15, "the others are more than an append holds");
  assert.equal((await Promise.all(waiting)).length, 20);
});
