import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createLanes } from "./locks.ts";

test("a limited number of tasks of one key run at once; tasks of another key do not wait for them; a task that fails stops no other", async () => {
  const inLane = createLanes(2);
  const running = new Map<number, number>();
  let most = 0;
  let together = 0;
  const work = (key: number, fails: boolean) => async () => {
    running.set(key, (running.get(key) ?? 0) + 1);
    most = Math.max(most, ...running.values());
    together = Math.max(
      together,
      [...running.values()].reduce((sum, one) => sum + one, 0),
    );
    await wait(2);
    running.set(key, (running.get(key) ?? 0) - 1);
    if (fails) throw new Error("it failed");
  };
  const all = Array.from({ length: 20 }, (_, index) => inLane(index % 2, work(index % 2, index % 5 === 0)));
  const failed = (await Promise.allSettled(all)).filter(({ status }) => status === "rejected");
  assert.deepEqual([most, failed.length], [2, 4]);
  assert.ok(together > 2, `${together} of both`);
});
