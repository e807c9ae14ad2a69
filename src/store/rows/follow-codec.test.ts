import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { said } from "../../../test/contract/positions/said.ts";
import { emptyHead, someDay, someHead } from "../../../test/contract/store/followed.ts";
import { dayBytes, dayOf, headBytes, headOf } from "./follow-codec.ts";

test("heads and days come back as they were", () => {
  fc.assert(
    fc.property(someHead, fc.nat(), (head, device) => assert.deepEqual(headOf(device, headBytes(device, head)), head)),
  );
  fc.assert(
    fc.property(someDay, fc.nat(), (day, device) =>
      assert.deepEqual(dayOf(device, day.day, dayBytes(device, day)), day),
    ),
  );
});

test("a record that is the newest one with a position, too, is written once", () => {
  const newest = said(1);
  const once = headBytes(1, { ...emptyHead, newest, located: newest });
  const twice = headBytes(1, { ...emptyHead, newest, located: said(1) });
  assert.ok(once.byteLength < twice.byteLength);
  assert.deepEqual(headOf(1, once), headOf(1, twice));
});

test("long texts take little room", () => {
  const rules = "the states of two hundred rules, ".repeat(3000);
  assert.ok(headBytes(1, { ...emptyHead, rules }).byteLength < 1000);
});

test("a changed bit, a missing end, and the bytes of another device or day are told", () => {
  const damaged = { name: "RecordsDamaged" };
  fc.assert(
    fc.property(someHead, fc.nat(), fc.nat(), (head, at, bit) => {
      const bytes = headBytes(7, head);
      assert.throws(() => headOf(8, bytes), damaged);
      assert.throws(() => headOf(7, bytes.subarray(0, at % bytes.byteLength)), damaged);
      const place = at % bytes.byteLength;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (bit % 8));
      assert.throws(() => headOf(7, bytes), damaged);
    }),
  );
  fc.assert(
    fc.property(someDay, (day) => {
      const bytes = dayBytes(7, day);
      assert.throws(() => dayOf(8, day.day, bytes), damaged);
      assert.throws(() => dayOf(7, day.day + 1, bytes), damaged);
      assert.throws(() => headOf(7, bytes), damaged);
    }),
  );
});
