import assert from "node:assert/strict";
import { test } from "node:test";
import { noTotals } from "../model/location.ts";
import { type Committed, Holds } from "./holds.ts";

/** Two accounts report. */
function world() {
  const clock = { time: 0, now: () => clock.time, monotonic: () => clock.time };
  const holds = new Holds(clock);
  const report = () => holds.committed([alerted(1, 1, 0), alerted(300, 3, 0)], 1);
  report();
  return { clock, holds, report };
}

/** A commit that changed `count` stored records of a device. */
const changed = (key: number, count: number): Committed => {
  const patch = { time: 1, hash: 1, totals: noTotals };
  return { device: { key, accountKey: 1 }, plan: { patches: Array(count).fill(patch) } };
};

/** A commit with so many alerts and notices of a device. */
const alerted = (key: number, accountKey: number, alerts: number, notices = 0): Committed => ({
  device: { key, accountKey },
  plan: { patches: [], alerts: { length: alerts }, notices: { length: notices } },
});

test("who changed many records in a long commit waits nine times as long, and nobody else", () => {
  const { clock, holds } = world();
  holds.committed([changed(1, 1000), changed(2, 10)], 100);
  holds.committed([changed(3, 1000)], 10);
  assert.deepEqual([holds.has(1), holds.has(2), holds.has(3)], [true, false, false]);
  clock.time = 900;
  assert.ok(!holds.has(1));
  holds.release(clock.time);
  assert.ok(!holds.some);
});

test("who is slow to plan keeps its place in the turn, though its commit was long too", () => {
  const { clock, holds } = world();
  holds.planned([1], 100);
  holds.planned([2], 100);
  holds.committed([changed(2, 1000)], 30);
  clock.time = 900;
  assert.deepEqual([holds.has(1), holds.has(2)], [false, true]);
  clock.time = 1800;
  assert.ok(!holds.has(2));
});

test("a disk that stands still for a minute holds back no device for minutes", () => {
  const { clock, holds } = world();
  holds.committed([changed(1, 1000)], 60_000);
  holds.planned([2], 60_000);
  clock.time = 18_000;
  assert.deepEqual([holds.has(1), holds.has(2)], [false, false]);
});

test("devices whose alerts made a commit long come back one behind the other, so that those of an account take a tenth of the time together", () => {
  const { clock, holds } = world();
  holds.committed([alerted(1, 1, 500), alerted(2, 1, 20, 480), alerted(3, 1, 3, 2)], 200);
  assert.deepEqual([holds.has(1), holds.has(2), holds.has(3)], [true, true, false]);
  clock.time = 900;
  assert.deepEqual([holds.has(1), holds.has(2)], [false, true]);
  // The first one's next commit is as long as half of the first.
  holds.committed([alerted(1, 1, 500)], 100);
  clock.time = 1800;
  assert.deepEqual([holds.has(1), holds.has(2)], [true, false]);
  clock.time = 2700;
  assert.ok(!holds.has(1));
});

test("the devices of one account that alert all the time keep no device of another account waiting for its turn", () => {
  const { clock, holds } = world();
  for (let key = 1; key <= 100; key++) holds.committed([alerted(key, 1, 500)], 100);
  holds.committed([alerted(200, 2, 500)], 100);
  clock.time = 900;
  assert.deepEqual([holds.has(200), holds.has(100)], [false, true]);
});

test("the end of an alert counts like an alert", () => {
  const { holds } = world();
  const ended = { ...alerted(1, 1, 0), plan: { patches: [], ended: { length: 500 } } };
  holds.committed([ended, alerted(2, 1, 20)], 200);
  assert.deepEqual([holds.has(1), holds.has(2)], [true, false]);
});

test("a short commit holds back nobody, however many alerts it has", () => {
  const { holds } = world();
  holds.committed([alerted(1, 1, 500)], 19);
  assert.ok(!holds.some);
});

test("while no other account reports, no device is held back for its alerts", () => {
  const { clock, holds, report } = world();
  clock.time = 2000;
  // The other account reported two seconds ago.
  holds.committed([alerted(1, 1, 0)], 1);
  clock.time = 4000;
  holds.committed([alerted(1, 1, 500)], 200);
  assert.ok(!holds.has(1));
  report();
  holds.committed([alerted(1, 1, 500)], 200);
  assert.ok(holds.has(1));
});

test("planning counts for those whose alerts it found, and not for those that changed many records", () => {
  const { clock, holds } = world();
  holds.committed([alerted(1, 1, 500), changed(2, 1000)], 10, 90);
  assert.deepEqual([holds.has(1), holds.has(2)], [true, false]);
  clock.time = 899;
  assert.ok(holds.has(1));
  clock.time = 900;
  assert.ok(!holds.has(1));
});
