import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { secondsToNextDay, Tally, type TallyDelta, utcDay } from "./tally.ts";

const noon = Date.UTC(2026, 10, 21, 12);
const dayMs = 86_400_000;

const totalsOf = ({ total, daily }: { total: number; daily: number }) => [total, daily];

/** Stored sums, as a store keeps them. */
function storage() {
  const days = new Map<string, number>();
  const total = (key: number) =>
    [...days].filter(([name]) => name.startsWith(`${key} `)).reduce((sum, [, count]) => sum + count, 0);
  return {
    load: async (key: number, day: string) => ({ total: total(key), daily: days.get(`${key} ${day}`) ?? 0 }),
    write: (deltas: readonly TallyDelta[]) => {
      for (const { key, day, count } of deltas) days.set(`${key} ${day}`, (days.get(`${key} ${day}`) ?? 0) + count);
    },
  };
}

test("counts go on from what is stored, and those of the day begin again at midnight UTC", async () => {
  const store = storage();
  store.write([{ key: 1, day: "2026-11-20", count: 5 }]);
  store.write([{ key: 1, day: "2026-11-21", count: 2 }]);
  const tally = new Tally(store.load);
  const entry = await tally.entry(1, noon);
  tally.add(entry, 1);
  assert.deepEqual({ total: entry.total, daily: entry.daily }, { total: 8, daily: 3 });
  const next = await tally.entry(1, noon + dayMs / 2);
  tally.add(next, 1);
  assert.deepEqual({ total: next.total, daily: next.daily }, { total: 9, daily: 1 });
  assert.deepEqual(tally.drain(), [
    { key: 1, day: "2026-11-21", count: 1 },
    { key: 1, day: "2026-11-22", count: 1 },
  ]);
  assert.deepEqual(tally.drain(), []);
});

test("nothing is lost or counted twice, whatever the order of requests, flushes, failed flushes, days and restarts", async () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant("add"), key: fc.integer({ min: 1, max: 3 }), ms: fc.integer({ min: 0, max: dayMs }) }),
    fc.record({ do: fc.constantFrom("flush", "fail", "restart"), key: fc.constant(0), ms: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const store = storage();
      // So small that keys make room for each other.
      let tally = new Tally(store.load, { capacity: 1 });
      let now = noon;
      const expected = new Map<number, number>();
      for (const step of actions) {
        now += step.ms;
        if (step.do === "add") {
          const entry = await tally.entry(step.key, now);
          tally.add(entry, 1);
          expected.set(step.key, (expected.get(step.key) ?? 0) + 1);
          assert.equal(entry.total, expected.get(step.key));
        } else if (step.do === "fail") tally.restore(tally.drain());
        else {
          store.write(tally.drain());
          if (step.do === "restart") tally = new Tally(store.load, { capacity: 1 });
          else tally.trim();
        }
      }
      store.write(tally.drain());
      for (const [key, count] of expected) assert.equal((await store.load(key, utcDay(now))).total, count);
    }),
  );
});

test("beyond the capacity those not used for longest are forgotten, and read again from the store", async () => {
  const store = storage();
  let loads = 0;
  const load = (key: number, day: string) => {
    loads++;
    return store.load(key, day);
  };
  const tally = new Tally(load, { capacity: 10 });
  const use = async (key: number) => tally.add(await tally.entry(key, noon), 1);
  const flush = () => {
    store.write(tally.drain());
    tally.trim();
  };
  for (let key = 1; key <= 30; key++) await use(key);
  // What is not stored yet is never forgotten.
  tally.trim();
  assert.equal(tally.drain().length, 30);
  for (let round = 0; round < 3; round++) {
    for (let key = 1; key <= 10; key++) await use(key);
    flush();
  }
  assert.equal(loads, 30);
  for (let key = 1; key <= 10; key++) await use(key);
  assert.equal(loads, 30);
  for (let key = 11; key <= 30; key++) await use(key);
  assert.equal(loads, 50);
});

test("a failed read is tried again, and readers at the same time share one entry", async () => {
  let fail = true;
  const tally = new Tally(async () => {
    if (fail) throw new Error("store down");
    return { total: 0, daily: 0 };
  });
  await assert.rejects(async () => tally.entry(1, noon));
  fail = false;
  const [first, second] = await Promise.all([tally.entry(1, noon), tally.entry(1, noon)]);
  assert.equal(first, second);
});

test("the rest of a day is at least a second", () => {
  assert.equal(secondsToNextDay(noon), 43_200);
  assert.equal(secondsToNextDay(Date.UTC(2026, 10, 22) - 1), 1);
  assert.equal(secondsToNextDay(Date.UTC(2026, 10, 22)), 86_400);
});

test("what other processes add is seen a second after it is stored, whatever the order of requests and flushes", async () => {
  const step = fc.record({
    process: fc.integer({ min: 0, max: 1 }),
    do: fc.constantFrom("add", "flush", "fail"),
    ms: fc.integer({ min: 0, max: 1500 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = storage();
      const tallies = [0, 1].map(() => new Tally(store.load, { isShared: () => true }));
      let now = noon;
      let added = 0;
      const flush = (tally: Tally) => {
        const deltas = tally.drain();
        store.write(deltas);
        tally.stored(deltas);
      };
      for (const { process, ms, ...one } of steps) {
        now += ms;
        const tally = tallies[process];
        assert.ok(tally);
        if (one.do === "add") {
          tally.add(await tally.entry(1, now), 1);
          added++;
        } else if (one.do === "flush") flush(tally);
        else tally.restore(tally.drain());
      }
      for (const tally of tallies) flush(tally);
      for (const tally of tallies) assert.deepEqual(totalsOf(await tally.entry(1, now + 1000)), [added, added]);
    }),
  );
});
