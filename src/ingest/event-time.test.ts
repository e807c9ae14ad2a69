import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eventTime } from "./event-time.ts";

const now = Date.UTC(2026, 10, 21, 12);
const tenMinutes = 600_000;
const week = 7 * 86_400_000;

test("a clock a little ahead is believed, one further ahead is refused", () => {
  assert.equal(eventTime(now + tenMinutes, now, tenMinutes), now + tenMinutes);
  assert.equal(eventTime(now + tenMinutes + 1, now, tenMinutes), "future");
  assert.equal(eventTime(Number.NaN, now, tenMinutes), "future");
});

test("a time before the year 2000 is an unset clock", () => {
  assert.equal(eventTime(Date.UTC(2000, 0, 1), now, tenMinutes), Date.UTC(2000, 0, 1));
  assert.equal(eventTime(Date.UTC(2000, 0, 1) - 1, now, tenMinutes), "past");
  assert.equal(eventTime(0, now, tenMinutes), "past");
});

test("a GPS week rollover is repaired where that gives a recent time, once or twice 1,024 weeks", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 29 * 86_400_000 }), fc.constantFrom(1, 2), (age, rollovers) => {
      assert.equal(eventTime(now - age - rollovers * 1024 * week, now, tenMinutes), now - age);
    }),
  );
});

test("an old backlog is kept as it is", () => {
  assert.equal(eventTime(Date.UTC(2010, 5, 1), now, tenMinutes), Date.UTC(2010, 5, 1));
});
