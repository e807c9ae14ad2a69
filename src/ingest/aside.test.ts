import assert from "node:assert/strict";
import { test } from "node:test";
import type { Admitted } from "../ports/intake.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Aside } from "./aside.ts";
import { PendingDevice } from "./pending.ts";

const start = Date.UTC(2026, 5, 1);
const damage = new StoreUnavailable("a damaged page", undefined, "damaged");

function deviceOf(key: number): Admitted {
  const id = `device-${key}`;
  return {
    status: "admitted",
    key,
    accountKey: 1,
    id,
    name: id,
    expires: null,
    odometerStart: 0,
    ways: [],
    live: true,
  };
}

function pendingOf(key: number, seconds: readonly number[], text = ""): PendingDevice {
  const pending = new PendingDevice(deviceOf(key));
  const options = { maxFutureMs: 0, watched: false, dropped: () => {} };
  for (const second of seconds)
    pending.add(
      [
        {
          type: "readings",
          time: start + second * 1000,
          alarms: [],
          readings: {},
          attributes: { second: `${second}${text}` },
        },
      ],
      start + 1e9,
      options,
      () => {},
    );
  return pending;
}

function world() {
  const clock = { time: 1000, now: () => clock.time, monotonic: () => clock.time };
  return { clock, aside: new Aside(clock) };
}

/** Tries what is due until `until`; a trial that holds one of these seconds fails. Gives what was stored, in order. */
function tryOn({ clock, aside }: ReturnType<typeof world>, bad: ReadonlySet<number>, ms: number): number[] {
  const stored: number[] = [];
  for (const until = clock.time + ms; clock.time < until; clock.time += 100) {
    const trial = aside.trial();
    if (trial === undefined) continue;
    const seconds = trial.pending.drafts.map(({ time }) => (time - start) / 1000);
    if (seconds.some((second) => bad.has(second))) aside.failed(trial, damage);
    else {
      stored.push(...seconds);
      aside.stored(trial);
    }
  }
  return stored;
}

test("a device is held until one of its reports can be stored; those that can't stay behind alone", () => {
  const one = world();
  const { aside } = one;
  aside.put(pendingOf(1, [1, 2, 3, 4, 5, 6, 7, 8]), damage);
  assert.ok(aside.holds(1) && !aside.holds(2));
  assert.deepEqual(aside.of(1), { since: 1000, cause: "damaged", kept: 8, left: 0, tries: 1 });
  const stored = tryOn(one, new Set([5]), 60_000);
  assert.deepEqual(stored.toSorted(), [1, 2, 3, 4, 6, 7, 8]);
  assert.ok(!aside.holds(1), "its other reports go with those of others");
  assert.equal(aside.of(1)?.kept, 1);
  assert.deepEqual(tryOn(one, new Set(), 600_000), [5], "once mended it is stored");
  assert.equal(aside.of(1), undefined);
  assert.deepEqual([aside.size, aside.bytes], [0, 0]);
});

test("a device that stays broken is tried more and more seldom", () => {
  const { clock, aside } = world();
  aside.put(pendingOf(1, [1]), damage);
  let tries = 0;
  for (const until = clock.time + 3_600_000; clock.time < until; clock.time += 500) {
    const trial = aside.trial();
    if (trial === undefined) continue;
    tries++;
    aside.failed(trial, damage);
  }
  assert.ok(tries > 10 && tries < 25, `${tries} tries in an hour`);
  assert.ok(aside.holds(1));
});

test("long tries leave the store to others for nine tenths of the time", () => {
  const { clock, aside } = world();
  for (let key = 1; key <= 20; key++) aside.put(pendingOf(key, [1]), damage);
  let busy = 0;
  const began = clock.time;
  while (clock.time < began + 100_000) {
    const trial = aside.trial();
    clock.time += 100;
    if (trial === undefined) continue;
    clock.time += 900;
    busy += 1000;
    aside.failed(trial, damage);
  }
  assert.ok(busy <= 12_000, `${busy} of 100,000 ms`);
});

test("what is kept is bounded in bytes, of each and of all; what is left out is counted", () => {
  const { aside } = world();
  const text = "x".repeat(1000);
  for (let key = 1; key <= 400; key++)
    aside.put(
      pendingOf(
        key,
        Array.from({ length: 100 }, (_, second) => second),
        text,
      ),
      damage,
    );
  const first = aside.of(1);
  assert.ok(first !== undefined && first.kept > 0 && first.kept < 64 && first.kept + first.left === 100);
  assert.ok(aside.bytes < 9 * 1024 * 1024, `${aside.bytes}`);
  assert.equal(aside.of(400)?.left, 100, "there is no room for the last one's");
  assert.ok(aside.holds(400));
});

test("one report is kept however long it is", () => {
  const one = world();
  const { aside } = one;
  const pending = new PendingDevice(deviceOf(1));
  const attributes = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`a${index}`, "x".repeat(4000)]));
  const report = { type: "readings", time: start + 1000, alarms: [], readings: {}, attributes } as const;
  pending.add([report], start + 1e9, { maxFutureMs: 0, watched: true, dropped: () => {} }, () => {});
  aside.put(pending, damage);
  assert.equal(aside.of(1)?.kept, 1);
  assert.deepEqual(tryOn(one, new Set(), 10_000), [1]);
});

test("a device of which nothing could be kept takes part again after the same growing pauses, and is forgotten once it went well", () => {
  const { clock, aside } = world();
  const seconds = Array.from({ length: 45 }, (_, second) => second);
  const last = 200;
  for (let key = 1; key <= last; key++) aside.put(pendingOf(key, seconds, "x".repeat(1000)), damage);
  assert.equal(aside.of(last)?.kept, 0);
  const pauses: number[] = [];
  for (let round = 0; round < 6; round++) {
    const since = clock.time;
    for (; aside.holds(last); clock.time += 100) {
      const trial = aside.trial();
      if (trial === undefined) continue;
      assert.notEqual(trial.items.length, 0, "nothing is not tried");
      aside.failed(trial, damage);
    }
    pauses.push(Math.round((clock.time - since) / 1000));
    aside.put(pendingOf(last, [1], "x".repeat(1000)), damage);
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32]);
  for (const until = clock.time + 700_000; clock.time < until; clock.time += 1000) {
    const trial = aside.trial();
    if (trial !== undefined) aside.failed(trial, damage);
  }
  assert.equal(aside.of(last), undefined);
  assert.equal(aside.holds(1), true);
});
