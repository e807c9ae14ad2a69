import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseDuration } from "../model/duration.ts";
import { parseMoment } from "./moment.ts";

const now = Date.UTC(2026, 10, 21, 10, 30);

test("times are RFC 3339, UTC where they have no offset, or how long ago", () => {
  const cases: readonly [string, string][] = [
    ["now", "2026-11-21T10:30:00.000Z"],
    ["2h", "2026-11-21T08:30:00.000Z"],
    ["90m", "2026-11-21T09:00:00.000Z"],
    ["1d12h", "2026-11-19T22:30:00.000Z"],
    ["0.5h", "2026-11-21T10:00:00.000Z"],
    ["2026-11-01", "2026-11-01T00:00:00.000Z"],
    ["2026-11-01T10:20", "2026-11-01T10:20:00.000Z"],
    ["2026-11-01 10:20:30", "2026-11-01T10:20:30.000Z"],
    ["2026-11-01T10:20:30.5Z", "2026-11-01T10:20:30.500Z"],
    ["2026-11-01T10:20:30-05:00", "2026-11-01T15:20:30.000Z"],
    ["2024-02-29t23:59:59.999z", "2024-02-29T23:59:59.999Z"],
  ];
  for (const [text, expected] of cases) {
    const time = parseMoment(text, now);
    assert.equal(time === undefined ? text : new Date(time).toISOString(), expected);
  }
});

test("what is no time is none", () => {
  const texts = [
    "",
    "yesterday",
    "2026",
    "2026-13-01",
    "2026-02-30",
    "2026-11-01T25:00Z",
    "2h ago",
    "-2h",
    "h",
    "1.h",
    "11/21/2026",
  ];
  for (const text of texts) assert.equal(parseMoment(text, now), undefined, text);
});

test("any text gives a time or none, and every time's own text gives it back", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const time = parseMoment(text, now);
      assert.ok(time === undefined || Number.isFinite(time));
    }),
  );
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      assert.equal(parseMoment(date.toISOString(), now), date.getTime());
    }),
  );
});

test("durations add up", () => {
  assert.equal(parseDuration("1w1d1h1m1s"), 694_861_000);
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), (hours, minutes) => {
      assert.equal(parseDuration(`${hours}h${minutes}m`), (hours * 60 + minutes) * 60_000);
    }),
  );
});
