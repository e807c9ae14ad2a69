import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";
import { device as registered } from "../../test/support/records.ts";
import { admitted, fix, setUp, start, submit } from "../../test/support/troubled-store.ts";
import type { Fix } from "../model/effects.ts";
import type { Watch } from "../ports/alert-engine.ts";
import { type HistoryContext, StoreUnavailable } from "../ports/store.ts";

/** Ingest with a device that has reported, whose history is answered when the test says so. */
async function slowHistory(context: TestContext) {
  const { store, ingest, clock } = setUp();
  const late = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  await submit(ingest, late, 100, []);
  const asked: number[] = [];
  const answers: ((context: HistoryContext) => void)[] = [];
  store.readContext = (limit) => {
    asked.push(limit);
    return new Promise((resolve) => answers.push(resolve));
  };
  // Also after a test that failed: what waits would keep its file from ending.
  context.after(async () => {
    store.readContext = async () => ({ from: [], more: false });
    for (const answer of answers) answer({ from: [], more: false });
    await ingest.stop();
  });
  return { store, ingest, clock, late, other, asked, answers };
}

test("a late report whose history is read slowly keeps no other device waiting", async (context) => {
  const { store, ingest, late, other, answers } = await slowHistory(context);
  const outcomes: string[] = [];
  const stored = submit(ingest, late, 50, outcomes);
  // One that comes with it, and one whose turn comes while nothing but the late one waits.
  await submit(ingest, other, 1, []);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await submit(ingest, other, 2, []);
  assert.deepEqual(outcomes, []);
  answers[0]?.({ from: [], more: false });
  await stored;
  assert.deepEqual(outcomes, ["stored"]);
  assert.deepEqual(
    store.stored.map(([key]) => key),
    [1, 2, 2, 1],
  );
});

test("a late report that needs to see more of its history keeps nobody waiting either, and needs more each time", async (context) => {
  const { ingest, late, other, asked, answers } = await slowHistory(context);
  const outcomes: string[] = [];
  const stored = submit(ingest, late, 50, outcomes);
  for (let second = 1; second <= 3; second++) {
    await submit(ingest, other, second * 2, []);
    // The totals do not meet within what is shown.
    answers[second - 1]?.({ from: [], more: true });
    await submit(ingest, other, second * 2 + 1, []);
  }
  assert.deepEqual(outcomes, []);
  assert.deepEqual(asked, [1, 16, 64, 256]);
  answers[3]?.({ from: [], more: false });
  await stored;
  assert.deepEqual(outcomes, ["stored"]);
});

test("late reports that gather while the history of the first is read are left over once, and then stored together", async (context) => {
  const { store, ingest, late, asked, answers } = await slowHistory(context);
  const outcomes: string[] = [];
  const all = [submit(ingest, late, 50, outcomes), submit(ingest, late, 51, outcomes)];
  answers[0]?.({ from: [], more: false });
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  answers[1]?.({ from: [], more: false });
  await Promise.all(all);
  assert.deepEqual(outcomes, ["stored", "stored"]);
  assert.deepEqual(asked, [1, 2]);
  assert.deepEqual(store.stored, [
    [1, 1],
    [1, 2],
  ]);
});

test("late reports of which none is stored between the first and the last are shown little of what is behind them", async (context) => {
  const { ingest, late, asked, answers } = await slowHistory(context);
  const outcomes: string[] = [];
  const stored = new Promise<void>((resolve) => {
    const reports = Array.from({ length: 20 }, (_, index) => fix(50 + index));
    ingest.submit(late, reports, start, (outcome) => resolve(void outcomes.push(outcome)));
  });
  assert.deepEqual(asked, [4]);
  answers[0]?.({ from: [], more: false });
  await stored;
  assert.deepEqual(outcomes, ["stored"]);
});

test("thousands of late reports of a device that come in a burst are not looked at again with each of them", async (context) => {
  const { store, ingest, late, answers } = await slowHistory(context);
  let looks = 0;
  Object.defineProperty(store, "count", { get: () => ++looks && 5 });
  const outcomes: string[] = [];
  const send = (reports: readonly Fix[]) =>
    new Promise<void>((resolve) => {
      ingest.submit(late, reports, start, (outcome) => resolve(void outcomes.push(outcome)));
    });
  // So many lie close to each other that they are read when a batch plans them.
  const all = [send(Array.from({ length: 300 }, (_, index) => fix(10 + index / 100)))];
  for (let second = 50; second > 20; second -= 0.01) all.push(send([fix(second)]));
  assert.ok(looks < 10, `${looks} looks`);
  while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  answers[0]?.({ from: [], more: false });
  await Promise.all(all);
  assert.deepEqual(new Set(outcomes), new Set(["stored"]));
});

/** Rules that find nothing. */
const idleWatch: Watch = {
  full: false,
  mostBesideLate: 500,
  observe: () => undefined,
  late: () => undefined,
  tick: () => undefined,
  outcome: () => undefined,
};

test("reports in order that are too many for the commit of a late one do not make it read more of the history", async (context) => {
  const { store, ingest } = setUp({ ...noAlertEngine, watch: () => ({ ...idleWatch, mostBesideLate: 2 }) });
  context.after(() => ingest.stop());
  const device = await admitted(ingest, "a");
  await submit(ingest, device, 100, []);
  const asked: number[] = [];
  store.readContext = async (limit) => {
    asked.push(limit);
    return { from: [], more: false };
  };
  const reports = [50, 101, 102, 103, 104].map(fix);
  const outcome = await new Promise((resolve) => ingest.submit(device, reports, start, resolve));
  assert.equal(outcome, "stored");
  assert.deepEqual(
    store.stored.map(([, records]) => records),
    [1, 3, 2],
  );
  assert.equal(asked.length, 1, `asked for ${asked.join()} records`);
});

test("late reports between stored ones are shown all of these at once, unless they lie far apart", async (context) => {
  const { store, ingest, late, asked, answers } = await slowHistory(context);
  for (const [count, shown] of [
    [30, 32],
    [100_000, 1],
    [Number.POSITIVE_INFINITY, 1],
  ] as const) {
    store.count = count;
    const stored = submit(ingest, late, 50 - asked.length, []);
    assert.equal(asked.at(-1), shown);
    answers.at(-1)?.({ from: [], more: false });
    await stored;
  }
});

test("a history that can't be read is asked for once more when its report is planned", async (context) => {
  const { store, ingest, late } = await slowHistory(context);
  let asked = 0;
  store.readContext = async () => {
    if (++asked === 1) throw new Error("the reader died");
    return { from: [], more: false };
  };
  const outcomes: string[] = [];
  await submit(ingest, late, 50, outcomes);
  assert.deepEqual(outcomes, ["stored"]);
  assert.equal(asked, 2);
});

test("where a history is never read, ready says so, though others are committed", async (context) => {
  const { ingest, clock, late, other, answers } = await slowHistory(context);
  const stored = submit(ingest, late, 50, []);
  await submit(ingest, other, 1, []);
  await ingest.check();
  clock.time += 6000;
  await submit(ingest, other, 2, []);
  await assert.rejects(ingest.check(), /no history was read for 6 s though late reports wait for theirs/);
  answers[0]?.({ from: [], more: false });
  await stored;
  await ingest.check();
});

test("reads that take some seconds each are no trouble; a read that is never answered is", async (context) => {
  const { ingest, clock, late, asked, answers } = await slowHistory(context);
  const stored = submit(ingest, late, 50, []);
  for (let read = 1; read <= 3; read++) {
    while (asked.length < read) await new Promise((resolve) => setImmediate(resolve));
    clock.time += 4000;
    await ingest.check();
    answers[read - 1]?.({ from: [], more: true });
  }
  while (asked.length < 4) await new Promise((resolve) => setImmediate(resolve));
  clock.time += 6000;
  await assert.rejects(ingest.check(), /no history was read for 6 s/);
  assert.equal(ingest.stalledSeconds, 6);
  answers[3]?.({ from: [], more: false });
  await stored;
  await ingest.check();
});

test("a trial of late reports that were set aside is planned at once, so that the good ones beside a bad one are stored", async (context) => {
  const { store, ingest, clock, late, other } = await slowHistory(context);
  store.readContext = async () => ({ from: [], more: false });
  const commit = store.commit.bind(store);
  let failedBesideOthers = 0;
  store.commit = async (batch, written) => {
    const bad = batch.devices.some(({ records }) => records.some(({ time }) => time === start + 52_000));
    if (bad && batch.devices.length > 1) failedBesideOthers++;
    return bad ? Promise.reject(new StoreUnavailable("a damaged page", undefined, "damaged")) : commit(batch, written);
  };
  const answered = new Promise((resolve) => ingest.submit(late, [50, 51, 52, 53].map(fix), start, resolve));
  assert.equal(await answered, "failed");
  failedBesideOthers = 0;
  for (let round = 0; round < 40; round++) {
    clock.time += 400_000;
    await submit(ingest, other, 10 + round, []);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const stored = store.stored.reduce((sum, [key, records]) => sum + (key === 1 ? records : 0), 0);
  assert.deepEqual([stored, ingest.aside.size, failedBesideOthers], [4, 1, 0]);
});

test("while it stops, nothing is left over for a later batch", async (context) => {
  const { store, ingest, late, asked, answers } = await slowHistory(context);
  const outcomes: string[] = [];
  const stored = submit(ingest, late, 50, outcomes);
  const stopped = ingest.stop();
  for (let read = 1; outcomes.length === 0; read++) {
    while (asked.length < read) await new Promise((resolve) => setImmediate(resolve));
    answers[read - 1]?.({ from: [], more: read < 4 });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all([stored, stopped]);
  assert.deepEqual(outcomes, ["stored"]);
  assert.deepEqual(asked, [1, 4, 16, 64]);
  assert.equal(store.commits.length, 2);
});

test("a report that is sent again costs one look at the history: its moment is not read as well", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const device = await admitted(ingest, "a");
  for (const second of [100, 200, 300]) await submit(ingest, device, second, []);
  const records = store.commits.flatMap(({ devices }) => devices.flatMap((one) => one.records));
  const asked: number[] = [];
  store.readContext = async (limit, time) => {
    asked.push(limit);
    const from = records.filter((one) => one.time >= time);
    return { from: from.slice(0, limit), more: from.length > limit };
  };
  let moments = 0;
  store.readMoment = async () => {
    moments++;
    return { hashes: [] };
  };
  const outcomes: string[] = [];
  await submit(ingest, device, 100, outcomes);
  assert.deepEqual({ outcomes, asked, moments }, { outcomes: ["stored"], asked: [1], moments: 0 });
  assert.equal(store.commits.flatMap(({ devices }) => devices.flatMap((one) => one.records)).length, 3);
});

test("late reports that lie far apart are planned together: one commit stores them, and their surroundings are read in few calls", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const device = await admitted(ingest, "a");
  // By then none of these is from the future.
  const now = start + 3_000_000;
  for (let second = 0; second < 2000; second += 2)
    await new Promise((resolve) => ingest.submit(device, [fix(second)], now, resolve));
  const records = store.commits.flatMap(({ devices }) => devices.flatMap((one) => one.records));
  store.history = records;
  let read = 0;
  store.readContext = async (limit, time) => {
    read += limit;
    const from = records.filter((one) => one.time >= time);
    const before = records.findLast((one) => one.time < time);
    return { ...(before && { before }), from: from.slice(0, limit), more: from.length > limit };
  };
  const before = store.commits.length;
  const late = Array.from({ length: 20 }, (_, index) => fix(index * 90 + 1));
  const outcome = await new Promise((resolve) => ingest.submit(device, late, now, resolve));
  assert.equal(outcome, "stored");
  assert.equal(store.commits.length, before + 1);
  assert.ok(read < 300, `${read} records were read`);
});

test("a device that repeats its last report before histories can be read after a start is not held back", async (context) => {
  const { store, ingest, clock } = setUp();
  context.after(() => ingest.stop());
  const device = await admitted(ingest, "a");
  await submit(ingest, device, 1, []);
  const read = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  store.readable = () => {
    asked.resolve();
    return read.promise;
  };
  const outcomes: string[] = [];
  const repeated = submit(ingest, device, 1, outcomes);
  await asked.promise;
  clock.time += 1000;
  read.resolve();
  await repeated;
  void submit(ingest, device, 2, outcomes);
  // The clock stands still, so a device that is held back stays held back.
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(outcomes, ["stored", "stored"]);
});

test("a device that ends many alerts before histories can be read after a start is not held back", async (context) => {
  const end = { ruleKey: 1, time: start, foundAt: start };
  const ended = Array.from({ length: 100 }, () => end);
  const watch = { ...idleWatch, outcome: () => ({ rules: undefined, alerts: [], notices: [], ended }) };
  const { store, ingest, clock } = setUp({ ...noAlertEngine, watch: () => watch });
  context.after(() => ingest.stop());
  store.devices = [registered({ key: 1, id: "a" }), registered({ key: 2, id: "b", accountKey: 2 })];
  const [device, other] = [await admitted(ingest, "a"), await admitted(ingest, "b")];
  await submit(ingest, device, 1, []);
  await submit(ingest, other, 1, []);
  store.readable = async () => {
    clock.time += 1000;
    store.readable = async () => undefined;
  };
  const outcomes: string[] = [];
  await submit(ingest, device, 1, outcomes);
  void submit(ingest, device, 2, outcomes);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(outcomes, ["stored", "stored"]);
});
