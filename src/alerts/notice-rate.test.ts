import assert from "node:assert/strict";
import { test } from "node:test";
import { NoticeRate } from "./notice-rate.ts";

test("an account has a minute's notices at once, and then as many as time brings; others have their own", () => {
  const rate = new NoticeRate(600);
  assert.equal(rate.left(1, 0).notices, 600);
  rate.made(1, 600, 0);
  assert.deepEqual(rate.left(1, 0), { notices: 0, critical: 600 });
  assert.equal(rate.left(1, 1000).notices, 10);
  assert.equal(rate.left(2, 1000).notices, 600);
  assert.equal(rate.left(1, 3_600_000).notices, 600);
});

test("what was made beyond it is a debt of a minute at most", () => {
  const rate = new NoticeRate(600);
  rate.made(1, 1_000_000, 60_000);
  assert.deepEqual(rate.left(1, 60_000), { notices: 0, critical: 0 });
  assert.deepEqual(rate.left(1, 120_000), { notices: 0, critical: 600 });
  assert.equal(rate.left(1, 121_000).notices, 10);
});
