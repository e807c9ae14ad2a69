import assert from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "./rounds.ts";

test("rounds come one at a time, again by themselves and at once where somebody asks, until they end", async () => {
  let [running, done] = [0, 0];
  let next = Promise.withResolvers<void>();
  const rounds = new Rounds(async () => {
    assert.equal(++running, 1, "one at a time");
    const { promise } = next;
    await promise;
    next = Promise.withResolvers();
    running--;
    done++;
  }, 1);
  const until = async (count: number) => {
    while (done < count) {
      next.resolve();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  rounds.now();
  // They are one round more, not three.
  for (let asked = 0; asked < 3; asked++) rounds.now();
  await until(5);
  const ended = rounds.end();
  next.resolve();
  await ended;
  const count = done;
  rounds.now();
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(done, count);
});
