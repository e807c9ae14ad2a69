import assert from "node:assert/strict";
import { test } from "node:test";
import { minutesOf } from "./check.ts";

test("minutes that are told are right to the second", () => {
  for (let seconds = 0; seconds < 7200; seconds++)
    assert.equal(Math.round(minutesOf(seconds * 1000) * 60), seconds, `${seconds} s`);
  assert.equal(minutesOf(-1), 0);
});
