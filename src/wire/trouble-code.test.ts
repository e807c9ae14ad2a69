import assert from "node:assert/strict";
import { test } from "node:test";
import { troubleCode } from "./trouble-code.ts";

test("the letter and the first digit share the first half byte", () => {
  assert.equal(troubleCode(0x0326), "P0326");
  assert.equal(troubleCode(0x1351), "P1351");
  assert.equal(troubleCode(0x4035), "C0035");
  assert.equal(troubleCode(0x9a0b), "B1A0B");
  assert.equal(troubleCode(0xffff), "U3FFF");
});
