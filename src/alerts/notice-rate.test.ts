import assert from "node:assert/strict";
import { test } from "node:test";
import { NoticeRate } from "./notice-rate.ts";

test("critical alerts may make a minute's notices more, and pay them back", () => {
  const rate = new NoticeRate(600);
  assert.deepEqual(rate.left(1, 0), { notices: 600, critical: 1200 });
  rate.made(1, 600, 0);
  assert.deepEqual(rate.left(1, 0), { notices: 0, critical: 600 });
  rate.made(1, 1_000_000, 0);
  assert.deepEqual(rate.left(1, 0), { notices: 0, critical: 0 });
  assert.deepEqual(rate.left(1, 60_000), { notices: 0, critical: 600 });
  assert.deepEqual(rate.left(1, 61_000), { notices: 10, critical: 610 });
});
