import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { collectGarbage } from "../../test/support/garbage.ts";
import { Spread } from "./spread.ts";

test("a few at once, thousands over many turns of the event loop, all in their order, also where more come meanwhile", async () => {
  const done: number[] = [];
  const spread = new Spread<number>(64, (item) => {
    done.push(item);
    if (item === 100) spread.add(1000);
  });
  spread.add(0);
  assert.deepEqual(done, [0]);
  for (let item = 1; item < 1000; item++) spread.add(item);
  assert.equal(done.length, 64);
  let most = 0;
  for (let turns = 0; turns < 100; turns++) {
    const before = done.length;
    await turn();
    most = Math.max(most, done.length - before);
  }
  assert.ok(most <= 64, `${most}`);
  assert.deepEqual(
    done,
    Array.from({ length: 1001 }, (_, item) => item),
  );
  spread.add(2000);
  assert.equal(done.at(-1), 2000);
});

test("work that fails keeps no other from being done, and what comes from within it waits for its place", async (context) => {
  const done: number[] = [];
  const failures: unknown[] = [];
  const failed = (error: unknown) => void failures.push(error);
  // Nobody catches what fails in a turn of its own.
  const before = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", failed);
  context.after(() => {
    process.removeAllListeners("uncaughtException");
    for (const listener of before) process.on("uncaughtException", listener);
  });
  const spread = new Spread<number>(64, (item) => {
    done.push(item);
    if (item === 190) spread.add(200);
    if (item === 70) throw new Error("a defect");
  });
  for (let item = 0; item < 200; item++) spread.add(item);
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.equal(failures.length, 1);
  assert.deepEqual(
    done,
    Array.from({ length: 201 }, (_, item) => item),
  );
});

test("what was worked off is kept no longer, also where something waits all the time", async () => {
  const made: WeakRef<object>[] = [];
  const next = () => {
    const item = {};
    made.push(new WeakRef(item));
    return item;
  };
  let goesOn = true;
  const spread = new Spread<object>(2, () => {
    if (goesOn) spread.add(next());
  });
  for (let item = 0; item < 10; item++) spread.add(next());
  while (made.length < 2000) await turn();
  collectGarbage();
  const kept = made.filter((item) => item.deref() !== undefined);
  goesOn = false;
  assert.ok(kept.length < 100, `${kept.length} of ${made.length}`);
});
