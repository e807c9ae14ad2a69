import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Background } from "./background.ts";

/** A background that empties a queue. */
function emptying(queue: number[]): Background {
  return new Background(async () => {
    while (queue.shift() !== undefined) await undefined;
  });
}

test("what is added at any step of the work's end is done", async () => {
  for (let steps = 0; steps < 12; steps++) {
    const queue = [1];
    const background = emptying(queue);
    background.start();
    for (let step = 0; step < steps; step++) await undefined;
    queue.push(2);
    background.start();
    await turn();
    assert.deepEqual(queue, [], `after ${steps} steps`);
  }
});

test("the work runs once at a time, and closing ends a pause and what is asked for later", async () => {
  let running = 0;
  let runs = 0;
  const background: Background = new Background(async () => {
    running++;
    runs++;
    assert.equal(running, 1);
    await background.pause(3_600_000);
    running--;
  });
  background.start();
  background.start();
  await turn();
  await background.close();
  assert.equal(running, 0);
  background.start();
  await background.pause(3_600_000);
  assert.equal(runs, 1);
});
