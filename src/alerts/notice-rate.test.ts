import assert from "node:assert/strict";
import { test } from "node:test";
import { NoticeRate } from "./notice-rate.ts";

test("an account has a minute's notices at once, and then as many as time brings; others have their own", () => {
  const rate = new NoticeRate(600);
  assert.equal(rate.left(1, 0), 600);
  rate.made(1, 600, 0);
  assert.equal(rate.left(1, 0), 0);
  assert.equal(rate.left(1, 1000), 10);
  assert.equal(rate.left(2, 1000), 600);
  assert.equal(rate.left(1, 3_600_000), 600);
});

test("what was made beyond it is a debt of a minute at most", () => {
  const rate = new NoticeRate(600);
  rate.made(1, 1_000_000, 60_000);
  assert.equal(rate.left(1, 60_000), 0);
  assert.equal(rate.left(1, 120_000), 0);
  assert.equal(rate.left(1, 121_000), 10);
});
