import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted, fix, setUp, start } from "../../test/support/troubled-store.ts";
import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import { noTotals } from "../model/location.ts";

/** Reports that need several commits: they are many, and lie far apart in a history of one record a second. */
const spread = (from: number) =>
  Array.from({ length: 100 }, (_, index) => ({ ...fix(from + index * 19.5), valid: false }));

const now = start + 3_000_000;

function withHistory() {
  const world = setUp();
  const { store, clock } = world;
  clock.time = now;
  store.states.set(1, { version: 1, time: start + 2_000_000, arrivals: 0, totals: noTotals });
  const record = { receivedAt: start, valid: false, latitude: 0, longitude: 0, unlocated: true as const, extras: "" };
  let totals = noTotals;
  store.history = Array.from({ length: 2001 }, (_, second) => {
    const stored = { ...record, time: start + second * 1000, arrival: 0, hash: 0, totals };
    totals = advance(totals, second === 0 ? undefined : stored.time - 1000, stepOf(stored));
    return { ...stored, totals };
  });
  store.readContext = async (limit, time) => {
    const from = store.history.filter((one) => one.time >= time);
    const before = store.history.findLast((one) => one.time < time);
    return { ...(before && { before }), from: from.slice(0, limit), more: from.length > limit };
  };
  return world;
}

test("late reports that need several commits are acknowledged after these, though more come before each of them", async (context) => {
  const { store, ingest } = withHistory();
  context.after(() => ingest.stop());
  const late = await admitted(ingest, "a");
  const told: number[] = [];
  const send = (number: number) =>
    new Promise<void>((resolve) =>
      ingest.submit(late, spread(10 + number / 100), now, (outcome) => {
        assert.equal(outcome, "stored");
        told.push(number);
        resolve();
      }),
    );
  const first = send(0);
  const commit = store.commit.bind(store);
  const more: Promise<void>[] = [];
  store.commit = async (...given) => {
    if (more.length < 20 && !told.includes(0)) more.push(send(more.length + 1));
    // A disk takes its time, in which others are told.
    await new Promise((resolve) => setImmediate(resolve));
    return commit(...given);
  };
  await first;
  assert.ok(more.length < 10, `after ${more.length} commits`);
  await Promise.all(more);
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
    "in their order",
  );
  assert.deepEqual([ingest.waiting.bytes, ingest.waiting.reports], [0, 0]);
});

test("what is stored of a device's late reports waits no more", async (context) => {
  const { store, ingest } = withHistory();
  context.after(() => ingest.stop());
  const late = await admitted(ingest, "a");
  const bytes: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = (...given) => {
    bytes.push(ingest.waiting.bytes);
    return commit(...given);
  };
  await new Promise((resolve) => ingest.submit(late, spread(10.5), now, resolve));
  assert.equal(bytes.length, 4);
  assert.deepEqual(
    bytes,
    bytes.toSorted((a, b) => b - a),
  );
  assert.ok((bytes[3] ?? 0) < (bytes[0] ?? 0) / 2);
});

test("late reports that lie far apart keep no other device waiting while the history around each is read", async (context) => {
  const { store, ingest } = withHistory();
  const late = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  const read = store.readContext;
  const { promise, resolve } = Promise.withResolvers<void>();
  context.after(async () => {
    resolve();
    await ingest.stop();
  });
  store.readContext = async (...asked) => {
    await promise;
    return read(...asked);
  };
  const outcomes: string[] = [];
  const all = new Promise<void>((done) => {
    ingest.submit(late, spread(10.5), now, (outcome) => done(void outcomes.push(outcome)));
  });
  for (let second = 1; second <= 5; second++)
    await new Promise((done) => ingest.submit(other, [fix(second)], now, done));
  assert.deepEqual(outcomes, []);
  resolve();
  await all;
  assert.deepEqual(outcomes, ["stored"]);
});

test("late reports that lie far apart, whose totals never meet, are planned after a few reads", async (context) => {
  const { store, ingest } = withHistory();
  const late = await admitted(ingest, "a");
  const read = store.readContext;
  let asked = 0;
  store.readContext = async (...given) => {
    if (++asked > 100) throw new Error("the same is asked again and again");
    await new Promise((done) => setImmediate(done));
    return read(...given);
  };
  context.after(() => ingest.stop());
  // Its state is in memory.
  await new Promise((done) => ingest.submit(late, [fix(2100)], now, done));
  // These are shown all that is stored between them, and more than they are. The last one comes too late for that read.
  const close = Array.from({ length: 20 }, (_, index) => ({ ...fix(10.5 + index * 1.5), readings: { input1: true } }));
  const outcomes = [close, [fix(1900.5)]].map(
    (reports) => new Promise((done) => ingest.submit(late, reports, now, done)),
  );
  assert.deepEqual(await Promise.all(outcomes), ["stored", "stored"]);
  assert.ok(asked < 30, `${asked} reads`);
});

test("where the totals do not meet close to the first of late reports that lie far apart, the history around the others is read once, and all are stored together", async (context) => {
  const { store, ingest } = withHistory();
  context.after(() => ingest.stop());
  const late = await admitted(ingest, "a");
  await new Promise((done) => ingest.submit(late, [fix(2100)], now, done));
  const asked: number[] = [];
  const read = store.readContext;
  store.readContext = (limit, time) => {
    asked.push(time);
    return read(limit, time);
  };
  // The input is off again 20 records behind the first one.
  const first = { ...fix(10.5), valid: false, readings: { input1: true } };
  const off = { ...fix(30.5), valid: false, readings: { input1: false } };
  const others = spread(100).slice(0, 28);
  const before = store.commits.length;
  assert.equal(await new Promise((done) => ingest.submit(late, [first, off, ...others], now, done)), "stored");
  const further = asked.filter((time) => time !== first.time);
  assert.deepEqual(further.toSorted(), [off, ...others].map(({ time }) => time).toSorted());
  assert.equal(store.commits.length, before + 1);
});
