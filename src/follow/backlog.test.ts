import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { newAlert } from "../../test/contract/store/alert-values.ts";
import { createMemoryBus } from "../../test/support/bus.ts";
import { MemoryFollow } from "../../test/support/follow-memory.ts";
import { freshRecord as record, driveStart as start } from "../../test/support/fresh-record.ts";
import { until } from "../../test/support/gateway.ts";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";
import { MemoryPositions } from "../../test/support/positions-memory.ts";
import { device } from "../../test/support/records.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Alert } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import { systemClock } from "../observe/index.ts";
import type { AlertEngine, Watch } from "../ports/alert-engine.ts";
import type { FreshRecord } from "../ports/follow.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Alone } from "../store/sqlite/alone.ts";
import type { FollowerDeps } from "./deps.ts";
import { Follower } from "./follower.ts";

const page = 1000;
const known = [1, 2].map((key) => ({ ...device({ key, id: `d${key}` }), fuelTables: undefined }));

function records(from: number, to: number): readonly FreshRecord[] {
  return Array.from({ length: to - from }, (_, at) => record(from + at));
}

/** An engine with one rule: it tells of each gap before a record, and of each 1,000th second. Reviews are counted. */
function gapEngine() {
  const reviews: DeviceKey[] = [];
  const gaps: Alert[] = [];
  const seconds: Alert[] = [];
  const last = new Map<DeviceKey, number>();
  const watch: AlertEngine["watch"] = ({ key }): Watch => {
    const alerts: Alert[] = [];
    return {
      ...{ full: false, late: undefined, tick: () => undefined, settled: () => undefined },
      observe({ time }) {
        const second = (time - start) / 1000;
        const before = last.get(key) ?? second - 1;
        if (second > before + 1) gaps.push(newAlert(key, 0, { time }));
        if (second % 1000 === 999 && second > before) {
          seconds.push(newAlert(key, 0, { time }));
          alerts.push(...seconds.slice(-1));
        }
        last.set(key, second);
        return undefined;
      },
      outcome: () => ({ rules: undefined, alerts, notices: [], ended: [] }),
    };
  };
  const review: AlertEngine["review"] = ({ key }) => {
    reviews.push(key);
    return undefined;
  };
  return { engine: { ...noAlertEngine, watch, review }, reviews, gaps, seconds };
}

/** A follower over stores in memory, whose pages are those of the real ones. */
function world(context: TestContext, positions = new MemoryPositions(page), follow = new MemoryFollow()) {
  const { engine, ...told } = gapEngine();
  const followed: number[] = [];
  /** Called when pages were read, before anybody sees them. */
  const hooks: {
    read: (devices: readonly DeviceKey[], pages: number) => void | Promise<void>;
    /** Called before a turn of late records reads a page. */
    turn: () => void | Promise<void>;
  } = { read() {}, turn() {} };
  let pages = 0;
  const store: FollowerDeps["store"] = {
    follow,
    positions: {
      append: (batch) => positions.append(batch),
      async read(key, range) {
        await hooks.turn();
        return positions.read(key, range);
      },
      async readEach(spans, limit) {
        const found = await positions.readEach(spans, limit);
        pages += spans.length;
        await hooks.read(
          spans.map(({ device: key }) => key),
          pages,
        );
        return found;
      },
      unfollowed: () => positions.unfollowed(),
      pending: (keys) => positions.pending(keys),
      followed: (place) => void followed.push(place),
      left: () => positions.left(),
      deleteBefore: (key, moment) => positions.deleteBefore(key, moment),
    },
    alerts: { list: async () => [] },
    devices: { findByKey: async (key) => known.find((one) => one.key === key) },
    processes: new Alone(),
  };
  const bus = createMemoryBus();
  const follower = new Follower({ store, engine, bus, clock: systemClock, log: silentLog, mostLagBytes: 1e9 });
  context.after(() => follower.stop());
  let place = 0;
  const append = (key: DeviceKey, some: readonly FreshRecord[]) => {
    positions.append([{ device: key, records: some }]);
    const [registered] = known.filter((one) => one.key === key);
    if (registered !== undefined) follower.appended([{ device: registered, records: some }], ++place);
  };
  /** Stores what nobody here is told of, but for its span. */
  const leave = (key: DeviceKey, some: readonly FreshRecord[]) => {
    positions.append([{ device: key, records: some }]);
    const times = some.map(({ time }) => time);
    follower.mayBeAppended(key, { from: Math.min(...times), to: Math.max(...times) });
  };
  const headOf = async (key: DeviceKey) => follower.head(key);
  /** What is not read yet counts as late in a head. Nobody gets one while the store is down. */
  const rests = (key: DeviceKey) =>
    until(async () => {
      const head = await headOf(key).catch(() => undefined);
      return head?.late.length === 0 && follower.behind + follower.lagBytes === 0;
    });
  return { follower, follow, positions, hooks, followed, append, leave, headOf, rests, ...told };
}

test("a backlog is judged in its order, and what comes meanwhile behind it", async (context) => {
  const { hooks, append, leave, rests, follower, headOf, gaps, reviews } = world(context);
  let next = 5000;
  hooks.read = () => {
    // While a page is read, and right behind it.
    if (next < 5010) append(1, [record(next++)]);
    setImmediate(() => next < 5010 && append(1, [record(next++)]));
  };
  leave(1, records(0, 5000));
  append(1, [record(next++)]);
  // Whoever reads folds what the head does not have.
  const { newest, late } = (await headOf(1)) ?? {};
  assert.ok(newest !== undefined && late?.length === 1 && (late[0]?.to ?? 0) >= start + 5000_000);
  assert.equal(late[0]?.from, newest.time);
  await until(() => next === 5010);
  await rests(1);
  const { json } = await follower.latest({ key: 1, odometerStart: 0 });
  assert.ok(json?.includes(new Date(start + 5009_000).toISOString().slice(0, 19)), `${json}`);
  assert.equal((await headOf(1))?.today?.end.records, 5010);
  assert.deepEqual([gaps, reviews], [[], []]);
});

test("the last location that is asked for in a backlog is that of what came before the question", async (context) => {
  const { append, leave, follower, headOf } = world(context);
  await headOf(1);
  leave(1, records(0, 5000));
  append(1, [record(5000)]);
  const { json } = await follower.latest({ key: 1, odometerStart: 0 });
  assert.ok(json?.includes(new Date(start + 5000_000).toISOString().slice(0, 19)), `${json}`);
});

test("late records in a backlog are folded in their places, once it is read", async (context) => {
  const { hooks, append, leave, rests, headOf, gaps, reviews } = world(context);
  const late = [record(100), record(2500), record(4500)];
  hooks.read = (_, pages) => {
    if (pages === 3) append(1, late);
  };
  leave(
    1,
    records(0, 5000).filter(({ time }) => late.every((one) => one.time !== time)),
  );
  await rests(1);
  assert.ok(reviews.length > 0);
  const head = await headOf(1);
  assert.deepEqual([head?.today?.end.records, head?.late], [5000, []]);
  // What had not been read when it came is in its place at once.
  assert.deepEqual(
    gaps.map(({ time }) => (time - start) / 1000),
    [101, 2501],
  );
});

test("nothing is skipped or taken twice where a page ends within a moment, or holds nothing else", async (context) => {
  const { leave, rests, headOf, gaps } = world(context);
  const within = [...records(0, page - 5), ...Array.from({ length: 12 }, (_, nth) => record(page - 5, nth))];
  leave(1, [...within, ...records(page - 4, 2 * page)]);
  await rests(1);
  assert.equal((await headOf(1))?.today?.end.records, 2 * page + 11);
  const moment = Array.from({ length: page + 50 }, (_, nth) => record(10, nth));
  leave(2, [...records(0, 10), ...moment, ...records(11, 2 * page)]);
  await rests(2);
  const head = await headOf(2);
  assert.deepEqual([head?.today?.end.records, head?.late], [3 * page + 49, []]);
  assert.deepEqual(gaps, []);
});

test("a store that is down in a backlog changes nothing of its order", async (context) => {
  const { hooks, append, leave, rests, headOf, gaps, reviews } = world(context);
  let failures = 2;
  hooks.read = (_, pages) => {
    append(1, [record(5000 + pages - 1)]);
    if (pages > 2 && failures-- > 0) throw new StoreUnavailable("down", undefined, "down");
  };
  leave(1, records(0, 5000));
  await rests(1);
  const head = await headOf(1);
  assert.equal(head?.today?.end.records, ((head?.newest?.time ?? 0) - start) / 1000 + 1);
  assert.ok((head?.newest?.time ?? 0) >= start + 5000_000);
  assert.deepEqual([gaps, reviews], [[], []]);
});

test("a damaged part in a backlog: all behind it is late, and what comes afterwards is followed", async (context) => {
  const { append, leave, headOf, positions } = world(context);
  positions.unreadable = [{ from: start + 2500_000, to: start + 2600_000, what: "a block" }];
  leave(1, records(0, 5000));
  await until(async () => ((await headOf(1))?.late.length ?? 0) > 0 && (await headOf(1))?.today?.end.records === 1999);
  append(1, [record(5000)]);
  const head = await headOf(1);
  assert.equal(head?.newest?.time, start + 5000_000);
  assert.deepEqual(
    head?.late.map(({ from, to }) => [from, to]),
    [[start + 1998_000, start + 4999_000]],
  );
});

test("alerts of a backlog are told before its end, and nothing counts as followed before", async (context) => {
  const { hooks, append, leave, rests, follow, followed, seconds, follower } = world(context);
  const gate = Promise.withResolvers<void>();
  hooks.read = (_, pages) => (pages === 4 ? gate.promise : undefined);
  append(2, [record(0)]);
  leave(1, records(0, 5000));
  append(1, [record(5000)]);
  const committed = () => follow.committed.flatMap(({ device: key, alerts = [] }) => (key === 1 ? alerts : []));
  await until(() => committed().length === 2);
  assert.deepEqual(committed(), seconds);
  assert.equal(Math.max(0, ...followed), 0);
  gate.resolve();
  await until(() => committed().length === 5);
  await rests(1);
  await follower.stop();
  assert.equal(followed.at(-1), 2);
});

test("what comes before it is known what a gained share has pending is judged behind that", async (context) => {
  const { positions, follower, append, rests, headOf, gaps, reviews } = world(context);
  const gate = Promise.withResolvers<void>();
  positions.unfollowed = async function* () {
    await gate.promise;
    yield { place: 1, spans: [{ device: 1, from: start, to: start + 9000 }] };
  };
  positions.append([{ device: 1, records: records(0, 10) }]);
  follower.gained([1]);
  append(1, [record(10)]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  append(1, [record(11)]);
  gate.resolve();
  await until(async () => (await headOf(1))?.newest?.time === start + 11_000);
  await rests(1);
  assert.equal((await headOf(1))?.today?.end.records, 12);
  assert.deepEqual([gaps, reviews], [[], []]);
});

test("a stop within a backlog leaves its rest to the next start", async (context) => {
  const before = world(context);
  const gate = Promise.withResolvers<void>();
  before.hooks.read = (_, pages) => (pages === 4 ? gate.promise : undefined);
  before.append(2, [record(0)]);
  before.leave(1, records(0, 5000));
  await until(() => before.seconds.length === 2);
  const stopped = before.follower.stop();
  gate.resolve();
  await stopped;
  assert.equal(Math.max(0, ...before.followed), 0);
  const { follower, rests, headOf } = world(context, before.positions, before.follow);
  follower.mayBeAppended(1, { from: start, to: start + 4999_000 });
  await rests(1);
  const head = await headOf(1);
  assert.deepEqual([head?.today?.end.records, head?.late], [5000, []]);
});

test("a backlog without an end holds up no other device", async (context) => {
  const { hooks, append, leave, headOf, gaps, follower } = world(context);
  let next = 3000;
  let isEndless = true;
  hooks.read = (devices) => {
    if (!isEndless || !devices.includes(1)) return;
    append(1, records(next, next + page));
    next += page;
  };
  leave(1, records(0, 3000));
  await until(() => next > 6000);
  leave(2, records(0, 3000));
  await until(async () => (await headOf(2))?.newest?.time === start + 2999_000);
  assert.ok((await follower.latest({ key: 1, odometerStart: 0 })).json);
  isEndless = false;
  await until(async () => (await headOf(1))?.newest?.time === start + (next - 1) * 1000);
  assert.deepEqual(gaps, []);
});

test("a backlog waits for the end of a refold, and is not held in memory", async (context) => {
  const { append, leave, rests, positions, headOf, gaps, follower } = world(context);
  append(1, records(1, 3000));
  await headOf(1);
  const gate = Promise.withResolvers<void>();
  const read = positions.read.bind(positions);
  let isRefolding = false;
  positions.read = async (key, range) => {
    if (range.limit !== page) {
      isRefolding = true;
      await gate.promise;
    }
    return read(key, range);
  };
  append(1, [record(0)]);
  await until(() => isRefolding);
  leave(1, records(3000, 8000));
  append(1, records(8000, 8010));
  await headOf(1);
  assert.ok(follower.lagBytes < 10_000, `${follower.lagBytes}`);
  gate.resolve();
  await rests(1);
  const head = await headOf(1);
  assert.deepEqual([head?.newest?.time, head?.today?.end.records], [start + 8009_000, 8010]);
  assert.deepEqual(gaps, []);
});

test("what comes of a device while its load ends and its late records are folded is taken after them", async (context) => {
  const { hooks, append, leave, follower, headOf, gaps } = world(context);
  append(1, [record(0), record(2)]);
  await headOf(1);
  const [begun, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  hooks.turn = () => {
    begun.resolve();
    return loaded.promise;
  };
  hooks.read = async () => {
    hooks.read = () => undefined;
    let isBegun = false;
    begun.promise.then(() => {
      isBegun = true;
    });
    await until(() => isBegun);
    // The load goes on with the second device then.
    setImmediate(() => append(1, [record(4)]));
    setImmediate(() => setImmediate(() => loaded.resolve()));
  };
  append(1, [record(1)]);
  await headOf(1);
  leave(1, [record(3)]);
  leave(2, records(0, page + 500));
  // Nobody asks: a question would load what waits.
  await until(() => gaps.length > 0 && follower.behind + follower.lagBytes === 0);
  assert.equal((await headOf(1))?.newest?.time, start + 4000);
  assert.deepEqual(
    gaps.map(({ time }) => time),
    [start + 2000],
  );
});
