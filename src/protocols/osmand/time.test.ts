import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseTimestamp } from "./time.ts";

describe("a timestamp", () => {
  it("is read in every form that an app writes", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1971-01-01"), max: new Date("2037-12-31"), noInvalidDate: true }),
        (date) => {
          const time = date.getTime();
          const iso = date.toISOString();
          const second = Math.floor(time / 1000) * 1000;
          // Milliseconds before 25 January 1970 look like seconds; no tracker has those.
          assert.equal(parseTimestamp(String(time)), time);
          assert.equal(parseTimestamp(String(second / 1000)), second);
          assert.equal(parseTimestamp(iso), time);
          assert.equal(parseTimestamp(iso.slice(0, 19)), second);
          assert.equal(parseTimestamp(iso.slice(0, 19).replace("T", " ")), second);
          assert.equal(parseTimestamp(`${iso.slice(0, 19)}+05:30`), second - 5.5 * 3_600_000);
          assert.equal(parseTimestamp(`${iso.slice(0, 19)} 0530`), second - 5.5 * 3_600_000);
          assert.equal(parseTimestamp(`${iso.slice(0, 19)}-03:00`), second + 3 * 3_600_000);
        },
      ),
    );
  });

  it("is nothing where it is not one", () => {
    for (const text of ["", "now", "-1", "2026-02-03", "1e12", "9".repeat(21)])
      assert.equal(parseTimestamp(text), undefined, text);
  });

  it("that no clock can have is one that ingest refuses: else the app repeats it for ever", () => {
    for (const text of ["2026-02-30T00:00:00Z", "2026-02-03T25:00:00Z"]) assert.equal(parseTimestamp(text), 0, text);
    for (const text of ["8640000000000001", "9007199254740992", "18446744073709551615"])
      assert.equal(parseTimestamp(text), Number(text), text);
  });
});
