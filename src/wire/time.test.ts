import assert from "node:assert/strict";
import { test } from "node:test";
import { bcdTime, digitTime, utc } from "./time.ts";

const time = Date.UTC(2026, 10, 26, 21, 4, 9);

test("a date of packed BCD, by a clock of its own zone", () => {
  const bytes = Uint8Array.fromHex("ff261126210409");
  assert.equal(bcdTime(bytes, 1), time);
  assert.equal(bcdTime(bytes, 1, 8 * 3_600_000), time - 8 * 3_600_000);
  for (const wrong of ["261326210409", "2611262104", "26112a210409", "260230210409"])
    assert.equal(bcdTime(Uint8Array.fromHex(wrong), 0), undefined, wrong);
});

test("a date of digits, with two or four for the year", () => {
  assert.equal(digitTime("261126210409"), time);
  assert.equal(digitTime("T20261126210409Z", 1, 14), time);
  for (const wrong of ["2611262104", "261126210460", "26 126210409", ""]) assert.equal(digitTime(wrong), undefined);
});

test("a date that no calendar has is none", () => {
  assert.equal(utc(26, 2, 29), undefined);
  assert.equal(utc(Number.NaN, 2, 1), undefined);
  assert.equal(utc(28, 2, 29), Date.UTC(2028, 1, 29));
});
