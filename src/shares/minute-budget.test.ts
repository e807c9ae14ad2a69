import assert from "node:assert/strict";
import { test } from "node:test";
import { MinuteBudget } from "./minute-budget.ts";

test("a key has a minute's number at once, and then as much as time brings; others have their own", () => {
  const budget = new MinuteBudget<number>(600);
  assert.equal(budget.left(1, 0), 600);
  budget.spend(1, 600, 0);
  assert.equal(budget.left(1, 0), 0);
  assert.equal(budget.left(1, 1000), 10);
  assert.equal(budget.left(2, 1000), 600);
  assert.equal(budget.left(1, 3_600_000), 600);
});

test("what is spent beyond it is a debt of a minute at most", () => {
  const budget = new MinuteBudget<number>(600);
  budget.spend(1, 1_000_000, 60_000);
  assert.equal(budget.left(1, 60_000), -600);
  assert.equal(budget.left(1, 120_000), 0);
  assert.equal(budget.left(1, 121_000), 10);
});
