import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatInstant, parseInstant } from "./time.ts";

const instants = fc.date({
  min: new Date("0001-01-02T00:00:00.000Z"),
  max: new Date("9999-12-30T23:59:59.999Z"),
  noInvalidDate: true,
});
const two = (value: number) => String(value).padStart(2, "0");

test("what is written is read again as the same moment", () => {
  fc.assert(fc.property(instants, (date) => assert.equal(parseInstant(formatInstant(date.getTime())), date.getTime())));
});

test("an offset moves the moment, and none is UTC", () => {
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
      fc.constantFrom(":", ""),
      (date, minutes, colon) => {
        const local = formatInstant(date.getTime()).slice(0, -1);
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}${colon}${two(size % 60)}`;
        assert.equal(parseInstant(local), date.getTime());
        assert.equal(parseInstant(local + offset), date.getTime() - minutes * 60_000);
      },
    ),
  );
});

test("any text gives a moment that can be written, or none", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.stringMatching(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const time = parseInstant(text);
      if (time !== undefined) assert.match(formatInstant(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }),
  );
});

test("accepted forms", () => {
  const expected = Date.UTC(2026, 10, 21, 10, 29, 0);
  for (const text of [
    "2026-11-21T10:29:00Z",
    "2026-11-21t10:29:00z",
    "2026-11-21 10:29:00Z",
    "2026-11-21T10:29:00",
    "2026-11-21T10:29",
    "2026-11-21T10:29:00.000Z",
    "2026-11-21T10:29:00,0009Z",
    "2026-11-21T05:29:00-05:00",
    "2026-11-21T05:29:00-0500",
    "2026-11-21T05:29:00-05",
    "2026-11-21T10:29:00-00:00",
  ])
    assert.equal(parseInstant(text), expected, text);
  assert.equal(parseInstant("2026-11-21"), Date.UTC(2026, 10, 21));
  assert.equal(parseInstant("2016-12-31T23:59:60Z"), Date.UTC(2017, 0, 1));
  assert.equal(parseInstant("2016-12-31T18:59:60-05:00"), Date.UTC(2017, 0, 1));
  assert.equal(parseInstant("0001-01-01T00:00:00"), new Date("0001-01-01T00:00:00Z").getTime());
  assert.equal(parseInstant("0001-01-01T00:00:00+01:00"), parseInstant("0001-01-01T00:00:00Z"));
  assert.equal(parseInstant("9999-12-31T23:59:59-01:00"), parseInstant("9999-12-31T23:59:59.999Z"));
  assert.equal(parseInstant("2026-01-01T00:00:00.1234567891Z"), Date.UTC(2026, 0, 1, 0, 0, 0, 123));
  assert.equal(parseInstant("2024-02-29T00:00:00Z"), Date.UTC(2024, 1, 29));
});

test("refused forms", () => {
  for (const text of [
    "",
    "now",
    "1700000000",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-11-21T24:00:00Z",
    "2026-11-21T10:60:00Z",
    "2026-11-21T10:29:60Z",
    "2026-11-21T10:29:61Z",
    "2026-11-21T10:29:00+24:00",
    "2026-11-21T10:29:00+05:60",
    "2026-11-21T10:29:00.Z",
    "2026-11-21T10:29:00Z ",
    "2026-11-21T10Z",
    "20261121T102900Z",
    "10000-01-01T00:00:00Z",
    "+002026-11-21T10:29:00Z",
    "0000-12-31T00:00:00Z",
    "2026-11-21Z",
  ])
    assert.equal(parseInstant(text), undefined, text);
});
