import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dayRange, fieldOf, localText, momentOf, momentOrNull, rangeIn } from "./range.ts";

describe("local time", () => {
  it("is shown and read in the person's zone", () => {
    assert.equal(localText("2026-01-15T12:30:05.250Z", "America/Bogota"), "2026-01-15T07:30:05");
    assert.equal(momentOf("2026-01-15T07:30:05", "America/Bogota"), "2026-01-15T12:30:05.000Z");
    assert.equal(momentOf("2026-01-15T07:30", "America/Bogota"), "2026-01-15T12:30:00.000Z");
  });

  it("knows summer time", () => {
    // In Madrid summer begins on 29 March 2026 at 02:00, and ends on 25 October at 03:00.
    assert.equal(momentOf("2026-03-28T12:00:00", "Europe/Madrid"), "2026-03-28T11:00:00.000Z");
    assert.equal(momentOf("2026-03-29T12:00:00", "Europe/Madrid"), "2026-03-29T10:00:00.000Z");
    assert.equal(momentOf("2026-10-25T02:30:00", "Europe/Madrid"), "2026-10-25T00:30:00.000Z");
  });
});

it("a field that nobody touched means the same moment, and an empty one none", () => {
  const [before, zone] = ["2026-12-31T04:59:59.999Z", "America/Bogota"];
  assert.equal(momentOrNull(fieldOf(before, zone), before, zone), before);
  assert.equal(momentOrNull("2026-12-30T23:59", before, zone), "2026-12-31T04:59:00.000Z");
  assert.equal(momentOrNull(fieldOf(null, zone), null, zone), null);
  assert.equal(momentOrNull("", before, zone), null);
});

describe("the range of an address", () => {
  const now = Date.parse("2026-03-30T10:00:00Z");
  const usual = { from: "2026-03-30T04:00:00.000Z", to: "2026-03-30T10:00:00.000Z" };
  const range = (search: string) => rangeIn(new URLSearchParams(search), now, 6 * 3_600_000);

  it("is the one that it names", () => {
    assert.deepEqual(range(""), usual);
    assert.deepEqual(range("from=2026-03-29T10:00:00Z&to=2026-03-29T12:30:00.250%2B02:00"), {
      from: "2026-03-29T10:00:00.000Z",
      to: "2026-03-29T10:30:00.250Z",
    });
    assert.deepEqual(range("from=2026-03-29T10:00Z"), { ...usual, from: "2026-03-29T10:00:00.000Z" });
    assert.deepEqual(range("to=2020-01-01T06:00:00Z"), {
      from: "2020-01-01T00:00:00.000Z",
      to: "2020-01-01T06:00:00.000Z",
    });
  });

  it("is the usual one where it can't be read", () => {
    for (const unreadable of ["", "2020", "2020-01", "2026-03-30", "junk", "junk 7", "5", "2026-13-45T10:00:00Z"]) {
      assert.deepEqual(range(`to=${unreadable}`), usual, unreadable);
      assert.deepEqual(range(`from=${unreadable}`), usual, unreadable);
      assert.deepEqual(range(`from=${unreadable}&to=${unreadable}`), usual, unreadable);
    }
  });

  it("is the usual one where it ends before it begins", () => {
    assert.deepEqual(range("from=2026-03-29T10:00:00Z&to=2026-03-28T10:00:00Z"), usual);
    assert.deepEqual(range("from=2027-01-01T00:00:00Z"), usual);
  });
});

it("a day is that of the zone, also one of 23 hours", () => {
  const now = Date.parse("2026-03-30T10:00:00Z");
  assert.deepEqual(dayRange(now, 0, "Europe/Madrid"), {
    from: "2026-03-29T22:00:00.000Z",
    to: "2026-03-30T10:00:00.000Z",
  });
  assert.deepEqual(dayRange(now, 1, "Europe/Madrid"), {
    from: "2026-03-28T23:00:00.000Z",
    to: "2026-03-29T21:59:59.999Z",
  });
});
