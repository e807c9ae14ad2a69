import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { divide } from "./division.ts";

/**
 * Runs a division in which work fails where it holds a culprit; tells what was done, what was set aside, and how often
 * it failed.
 */
async function run(count: number, culprits: ReadonlySet<number>) {
  const done: number[] = [];
  const aside: number[] = [];
  let failures = 0;
  await divide(
    Array.from({ length: count }, (_, index) => index),
    async (items) => {
      if (items.some((item) => culprits.has(item))) {
        failures++;
        return { error: new Error("bad") };
      }
      done.push(...items);
      return undefined;
    },
    (item) => aside.push(item),
  );
  return { done, aside, failures };
}

test("whatever the culprits and wherever they stand, they are set aside, and each other one is done once", async () => {
  const batches = fc.integer({ min: 0, max: 300 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      culprits: fc.uniqueArray(fc.nat(Math.max(0, count - 1)), { maxLength: 5 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(batches, async ({ count, culprits }) => {
      const bad = new Set(count === 0 ? [] : culprits);
      const { done, aside, failures } = await run(count, bad);
      assert.deepEqual(
        aside,
        [...bad].sort((one, other) => one - other),
      );
      assert.deepEqual(
        done,
        Array.from({ length: count }, (_, index) => index).filter((index) => !bad.has(index)),
      );
      assert.ok(failures <= bad.size * (Math.ceil(Math.log2(Math.max(1, count))) + 1), `${failures} failures`);
    }),
  );
});

test("the first, the last, one in the middle, two side by side", async () => {
  for (const culprits of [[0], [99], [50], [49, 50], [0, 99]]) {
    const { aside, done } = await run(100, new Set(culprits));
    assert.deepEqual([aside, done.length], [culprits, 100 - culprits.length]);
  }
});

test("what the work throws ends the division", async () => {
  const culprits: number[] = [];
  const stopped = divide(
    [1, 2],
    async () => {
      throw new Error("stop");
    },
    (item) => culprits.push(item),
  );
  await assert.rejects(stopped, /stop/);
  assert.deepEqual(culprits, []);
});
