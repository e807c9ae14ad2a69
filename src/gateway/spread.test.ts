import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Spread } from "./spread.ts";

test("a few at once, thousands over many turns of the event loop, all in their order, also where more come meanwhile", async () => {
  const done: number[] = [];
  const spread = new Spread<number>((item) => {
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
