import assert from "node:assert/strict";
import { test } from "node:test";
import { ArrayParameter } from "./array-parameter.ts";

const hex = (array: ArrayParameter) => array.parameter.toString("hex");

test("whole numbers beyond 32 bits, and negative ones", () => {
  const array = new ArrayParameter("int8", 3, 24);
  array.int8(0x12_3456_789a);
  array.int8(0xffff_ffff);
  array.int8(-2);
  assert.equal(
    hex(array),
    `${"00000001 00000000 00000014 00000003 00000001"}00000008 000000123456789a 00000008 00000000ffffffff 00000008 fffffffffffffffe`.replaceAll(
      " ",
      "",
    ),
  );
});

test("a null has no bytes, and the head tells that there is one", () => {
  const array = new ArrayParameter("float8", 2, 16);
  array.float8(undefined);
  array.float8(1.5);
  assert.equal(
    hex(array),
    "00000001 00000001 000002bd 00000002 00000001 ffffffff 00000008 3ff8000000000000".replaceAll(" ", ""),
  );
});

test("truth and texts", () => {
  const truths = new ArrayParameter("bool", 2, 2);
  truths.bool(true);
  truths.bool(false);
  assert.equal(hex(truths), "0000000100000000000000100000000200000001 0000000101 0000000100".replaceAll(" ", ""));
  const texts = new ArrayParameter("text", 1, 3);
  texts.text("aé", 3);
  assert.equal(hex(texts), "0000000100000000000000190000000100000001 00000003 61c3a9".replaceAll(" ", ""));
});

test("an array without elements has no dimension", () => {
  assert.equal(hex(new ArrayParameter("int8", 0, 0)), "000000000000000000000014");
});
