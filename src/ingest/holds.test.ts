import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceCommit } from "../model/commit.ts";
import { noTotals } from "../model/location.ts";
import { Holds } from "./holds.ts";

function world() {
  const clock = { time: 0, now: () => clock.time, monotonic: () => clock.time };
  return { clock, holds: new Holds(clock) };
}

/** A commit that changed `count` stored records of a device. */
const changed = (device: number, count: number): DeviceCommit => {
  const patch = { time: 1, hash: 1, totals: noTotals };
  return {
    device,
    records: [],
    patches: Array(count).fill(patch),
    state: { version: 1, time: 1, arrivals: 0, totals: noTotals },
  };
};

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
