import assert from "node:assert/strict";
import { test } from "node:test";
import { inLargeTurn, largeTurns } from "./large-turns.ts";

test("large bodies are read one after the other, each step in a turn of the event loop, the accounts' in turn; small ones at once", async () => {
  const inTurn = largeTurns({ now: () => 0, monotonic: () => performance.now() });
  const read: string[] = [];
  const turns: number[] = [];
  let turn = 0;
  let counts = true;
  const count = () => {
    turn++;
    if (counts) setImmediate(count);
  };
  setImmediate(count);
  await new Promise<void>((resolve) => {
    const take = (name: string) => {
      let steps = 0;
      return () => {
        turns.push(turn);
        const until = performance.now() + 5;
        while (performance.now() < until);
        if (++steps < 3) return true;
        read.push(name);
        if (read.length === 6) resolve();
        return false;
      };
    };
    for (const name of ["greedy 1", "greedy 2", "greedy 3", "greedy 4"]) inTurn(1, 1_000_000, take(name));
    inTurn(2, 1_000_000, take("other"));
    inTurn(1, 100, take("small"));
  });
  counts = false;
  assert.equal(read[0], "small");
  assert.ok(read.indexOf("other") < read.indexOf("greedy 3"), read.join());
  // Others had a turn between any two steps.
  const large = turns.slice(3);
  assert.equal(large.length, 15);
  assert.equal(new Set(large).size, large.length);
});

test("work in steps ends at once if it has one, else in its account's turn; what it throws is told to whoever asked", async () => {
  const inTurn = inLargeTurn(largeTurns({ now: () => 0, monotonic: () => performance.now() }));
  const ended: string[] = [];
  function* work(name: string, steps: number) {
    for (let step = 1; step < steps; step++) yield;
    ended.push(name);
    if (name === "bad") throw new Error(name);
    return name;
  }
  const all = [
    inTurn(1, work("greedy 1", 5)),
    inTurn(1, work("greedy 2", 5)),
    inTurn(1, work("greedy 3", 5)),
    inTurn(2, work("other", 5)),
    inTurn(1, work("small", 1)),
  ];
  assert.deepEqual(ended, ["small"]);
  await assert.rejects(inTurn(3, work("bad", 3)), /bad/);
  await assert.rejects(inTurn(3, work("bad", 1)), /bad/);
  assert.deepEqual(await Promise.all(all), ["greedy 1", "greedy 2", "greedy 3", "other", "small"]);
  assert.ok(ended.indexOf("other") < ended.indexOf("greedy 3"), ended.join());
});
