import assert from "node:assert/strict";
import { test } from "node:test";
import { first, second, followerWorld as world } from "../../test/support/follower-world.ts";
import { freshRecord as record, driveStart as start } from "../../test/support/fresh-record.ts";
import { until } from "../../test/support/gateway.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { FreshRecord } from "../ports/follow.ts";
import { DeviceFold } from "./device-fold.ts";
import { totalsOf } from "./standing.ts";

const dayS = 86_400;

/** Rules that take `ms` for each record and find nothing. */
function slowWatch(ms: number, seen: (second: number) => void = () => undefined): AlertEngine["watch"] {
  return () => ({
    ...{ full: false, late: undefined, tick: () => undefined, settled: () => undefined },
    observe({ time }) {
      seen((time - start) / 1000);
      for (const end = performance.now() + ms; performance.now() < end; );
      return undefined;
    },
    outcome: () => undefined,
  });
}

function drive(from: number, to: number): readonly FreshRecord[] {
  return Array.from({ length: to - from }, (_, at) => record(from + at));
}

test("what is appended is folded behind its answers, a slice at a time, and at once for whoever asks", async (context) => {
  let observed = 0;
  const watch = slowWatch(1, () => observed++);
  const { follower, timeOf } = world(context, { watch });
  await follower.head(1);
  await follower.head(2);
  const records = Array.from({ length: 1000 }, (_, at) => record(at));
  follower.appended([{ device: first, records }], 1);
  follower.appended([{ device: second, records: records.slice(0, 3) }], 2);
  assert.equal(observed, 0);
  assert.ok(follower.lagBytes > 1000 * 100);
  assert.equal(await timeOf(2), start + 2000);
  assert.equal(observed, 3);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(observed < 500, `${observed} records in a slice`);
  await until(() => follower.lagBytes === 0);
  assert.equal(observed, 1003);
});

test("a day that ends among what waits when late records have their turn counts once", async (context) => {
  const { follower, stored } = world(context, { watch: slowWatch(2) });
  const all = [...drive(0, 601), ...drive(dayS, dayS + 400)];
  stored.set(1, all);
  await follower.head(1);
  follower.appended([{ device: first, records: all.filter((_, at) => at < 101 && at !== 50) }], 1);
  await until(() => follower.lagBytes === 0);
  follower.appended([{ device: first, records: all.slice(50, 51) }], 2);
  await until(() => follower.behind === 1);
  follower.appended([{ device: first, records: all.slice(101) }], 3);
  await until(() => follower.behind === 0 && follower.lagBytes === 0);
  const plain = new DeviceFold();
  plain.take(all, () => undefined);
  const head = await follower.head(1);
  assert.deepEqual(head && totalsOf(head), totalsOf(plain.head));
});

test("nothing turns for a device that is gone while its records wait", async (context) => {
  const { follower, stored, gone, bus } = world(context, { watch: slowWatch(0.2) });
  stored.set(1, []);
  await follower.head(1);
  follower.appended([{ device: first, records: [record(100)] }], 1);
  await until(() => follower.lagBytes === 0);
  follower.appended([{ device: first, records: [record(50)] }], 2);
  await until(() => follower.behind === 1);
  follower.appended([{ device: first, records: drive(101, 8101) }], 3);
  gone.add(1);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await until(() => follower.inMemory === 0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const turns = context.mock.method(globalThis, "setImmediate");
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(turns.mock.callCount(), 0);
});

test("more of a device than may wait is judged in its order", async (context) => {
  const seen: number[] = [];
  const { follower, stored } = world(context, { watch: slowWatch(0, (second) => seen.push(second)) });
  const all = drive(0, 22_000);
  stored.set(1, [...all]);
  await follower.head(1);
  for (let at = 0; at < 22; at++)
    follower.appended([{ device: first, records: all.slice(at * 1000, at * 1000 + 1000) }], at + 1);
  await until(() => follower.behind === 0 && follower.lagBytes === 0);
  assert.deepEqual(
    seen,
    all.map((_, second) => second),
  );
});

test("late records of a device whose turns fail do not count for ever", async (context) => {
  const { follower, stored, failing } = world(context);
  const all = drive(0, 400);
  stored.set(1, [...all]);
  await follower.head(1);
  failing.add(1);
  follower.appended([{ device: first, records: all.slice(399) }], 1);
  await until(() => follower.lagBytes === 0);
  follower.appended([{ device: first, records: all.slice(0, 300) }], 2);
  await until(() => follower.lagBytes > 0);
  await until(() => follower.lagBytes === 0);
  assert.equal(follower.behind, 1);
});

test("late records that came during a turn which came to nothing have the next one", async (context) => {
  let isCurrent = true;
  const review: AlertEngine["review"] = () => ({
    ...{ toldFrom: 0, observe() {}, settled: () => undefined },
    // The first turn goes on to the newest record, the next one meets what is kept.
    meets: () => isCurrent,
    get isCurrent() {
      return isCurrent;
    },
    outcome: () => ({ rules: undefined, alerts: [], notices: [], ended: [], more: undefined }),
  });
  const { follower, stored, follow } = world(context, { review });
  const all = [0, 1, 2, 3, 4, 5].flatMap((day) => drive(day * dayS, day * dayS + 20));
  const [early, later] = [all.slice(10, 11), all.slice(50, 51)];
  stored.set(1, [...all]);
  await follower.head(1);
  follower.appended([{ device: first, records: all.filter((_, at) => at !== 10 && at !== 50) }], 1);
  await follower.head(1);
  const { sumsBefore } = follow;
  follow.sumsBefore = async (...asked) => {
    follow.sumsBefore = sumsBefore;
    isCurrent = false;
    setTimeout(() => {
      isCurrent = true;
    }, 300);
    follower.appended([{ device: first, records: later }], 3);
    return await sumsBefore.apply(follow, asked);
  };
  follower.appended([{ device: first, records: early }], 2);
  await until(() => follower.behind === 1);
  await until(() => follower.behind === 0 && follower.lagBytes === 0);
  await follower.head(1);
  const days = await follow.days(1, { order: "first", limit: 10 });
  assert.deepEqual(
    days.map(({ end }) => end.records),
    [20, 20, 20, 20, 20],
  );
});
