import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "./slots.ts";

test("slots are given in the order of asking, and no more than there are", async () => {
  const slots = new Slots(1, 10);
  const order: number[] = [];
  assert.ok(await slots.take(1000));
  const waiting = [1, 2, 3].map(async (number) => {
    assert.ok(await slots.take(1000));
    order.push(number);
    slots.give();
  });
  assert.deepEqual(order, []);
  slots.give();
  await Promise.all(waiting);
  assert.deepEqual(order, [1, 2, 3]);
  assert.ok(await slots.take(0));
});

test("who waits too long or is one too many has none, and takes none from the others", async () => {
  const slots = new Slots(1, 1);
  await slots.take(0);
  const late = slots.take(5);
  assert.equal(await slots.take(1000), false);
  assert.equal(await late, false);
  slots.give();
  assert.ok(await slots.take(0));
});
