import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import { neverDue } from "./due.ts";
import { type Due, Timers } from "./timers.ts";

const start = 1_800_000_000_000;
const never = Number.POSITIVE_INFINITY;

function deviceOf(key: number): WatchedDevice {
  return { key, accountKey: 1, id: String(key), name: "", expires: null, odometerStart: 0 };
}

function world() {
  const told: number[] = [];
  const timers = new Timers((devices) => told.push(...devices.map(({ key }) => key)));
  return { timers, told };
}

function quiet(minutes: number): Due {
  return { at: never, quietMs: minutes * 60_000, silent: false };
}

test("a device is told within a second of being due, and not before", async () => {
  const list = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 8_000_000 }), fc.nat({ max: 90_000 })), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(list, async (sets) => {
      const { timers, told } = world();
      const due = new Map<number, number>();
      let now = start;
      let version = 0;
      const look = async () => {
        told.length = 0;
        await timers.look(now);
        for (const key of told) {
          assert.ok((due.get(key) ?? never) <= now, "told too early");
          due.set(key, now + 30_000);
        }
        for (const [key, at] of due) assert.ok(at > now - 1000, `${key} should have been told`);
      };
      for (const [key, after, pause] of sets) {
        timers.set(deviceOf(key), { at: now + after, quietMs: never, silent: false }, ++version, 0, now);
        due.set(key, now + after);
        for (const until = now + pause; now < until; now += 1000) await look();
      }
      for (const until = now + 30_000; now < until; now += 1000) await look();
    }),
    { numRuns: 25 },
  );
});

test("what is heard of moves the quiet time without touching the timer", async () => {
  const { timers, told } = world();
  timers.set(deviceOf(1), quiet(10), 1, start, start);
  for (let minute = 1; minute <= 30; minute++) {
    timers.heard(1, start + minute * 60_000);
    await timers.look(start + minute * 60_000 + 500);
  }
  assert.deepEqual(told, []);
  await timers.look(start + 39 * 60_000);
  assert.deepEqual(told, []);
  await timers.look(start + 40 * 60_000 + 1000);
  assert.deepEqual(told, [1]);
});

test("one for which nothing is committed is told again; one whose alert stands is told when it is heard of", async () => {
  const { timers, told } = world();
  timers.set(deviceOf(1), quiet(1), 1, start, start);
  await timers.look(start + 61_000);
  await timers.look(start + 80_000);
  await timers.look(start + 92_000);
  assert.deepEqual(told, [1, 1]);
  timers.set(deviceOf(1), { at: never, quietMs: never, silent: true }, 2, start, start + 92_000);
  await timers.look(start + 600_000);
  assert.deepEqual(told, [1, 1]);
  timers.heard(1, start + 700_000);
  await timers.look(start + 702_000);
  assert.deepEqual(told, [1, 1, 1]);
});

test("an older state does not count, and what can't be due is not kept", async () => {
  const { timers, told } = world();
  timers.set(deviceOf(1), quiet(1), 7, start, start);
  timers.set(deviceOf(1), neverDue, 6, start, start);
  await timers.look(start + 61_000);
  assert.deepEqual(told, [1]);
  timers.set(deviceOf(1), neverDue, 8, start, start + 61_000);
  await timers.look(start + 200_000);
  assert.equal(timers.size, 0);
  timers.set(deviceOf(2), neverDue, 1, start, start);
  assert.equal(timers.size, 0);
});

test("a clock that is set back or far forward loses nobody", async () => {
  const { timers, told } = world();
  await timers.look(start);
  timers.set(deviceOf(1), { at: start + 60_000, quietMs: never, silent: false }, 1, 0, start);
  timers.set(deviceOf(2), { at: start + 86_400_000, quietMs: never, silent: false }, 1, 0, start);
  await timers.look(start - 7_200_000);
  assert.deepEqual(told, []);
  await timers.look(start + 61_000);
  assert.deepEqual(told, [1]);
  await timers.look(start + 10 * 86_400_000);
  assert.deepEqual(told.toSorted(), [1, 1, 2]);
});
