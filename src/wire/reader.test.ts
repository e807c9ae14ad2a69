import assert from "node:assert/strict";
import { test } from "node:test";
import { bcdText, latin1Of, Reader } from "./reader.ts";

test("numbers with the low byte first", () => {
  const bytes = Uint8Array.fromHex(
    "010203" + "ffffffffffffffff" + "0100000000000080" + "0000c03f" + "000000000000f83f",
  );
  const reader = new Reader(bytes);
  assert.equal(reader.u24le(), 0x030201);
  assert.equal(reader.i64le(), -1);
  assert.equal(reader.u64le(), 2 ** 63 + 1);
  assert.equal(reader.f32le(), 1.5);
  assert.equal(reader.f64le(), 1.5);
  assert.throws(() => reader.u8(), RangeError);
});

test("doubles with the high byte first; one that is no number is none", () => {
  const reader = new Reader(Uint8Array.fromHex("3ff8000000000000" + "7ff8000000000000"));
  assert.equal(reader.f64(), 1.5);
  assert.equal(reader.f64(), undefined);
});

test("an identifier of packed BCD keeps its leading zeros", () => {
  assert.equal(bcdText(Uint8Array.fromHex("0123456789")), "0123456789");
  assert.equal(bcdText(Uint8Array.fromHex("01234567a9")), undefined);
});

test("each byte is the character of its number, in short texts and long ones", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const text = String.fromCharCode(...bytes);
  assert.equal(latin1Of(bytes), text);
  for (const [start, end] of [
    [3, 250],
    [0x78, 0x88],
    [0x78, 0x89],
    [7, 7],
  ] as const)
    assert.equal(latin1Of(bytes.subarray(start, end)), text.slice(start, end));
});
