import assert from "node:assert/strict";
import { test } from "node:test";
import { signed } from "./status.ts";

test("a sign bit makes its magnitude negative, and of zero no negative zero", () => {
  assert.equal(signed(0x8019, 0x8000), -25);
  assert.equal(signed(0x19, 0x8000), 25);
  assert.equal(signed(0xf219, 0x200), -25, "bits above the sign are of something else");
  assert.ok(Object.is(signed(0x80, 0x80), 0));
  assert.ok(Object.is(signed(0x80, 0x80) / 100, 0));
});
