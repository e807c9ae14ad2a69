import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Location } from "../live/events.ts";
import { classOf, fixesOf, indexAt, linesOf, nextMoment, whereAt } from "./track.ts";

const start = Date.UTC(2026, 0, 15, 12);
const minute = 60_000;

/** Positions a minute apart (or more), each 0.01 degrees further east. */
function drive(...steps: readonly { readonly speed: number; readonly after?: number; readonly valid?: string }[]) {
  let at = start;
  return steps.map(({ speed, after = 1, valid }, each): Location => {
    if (each > 0) at += after * minute;
    return {
      ...{ dateTime: new Date(at).toISOString(), latitude: 0, longitude: each / 100, speed },
      ...{ alerts: [], alertTexts: [], warnings: [], warningTexts: [], hasCriticalAlert: false },
      attributes: valid === undefined ? {} : { valid },
    };
  });
}

describe("a track", () => {
  it("leaves out positions that the tracker does not believe", () => {
    const fixes = fixesOf(drive({ speed: 1 }, { speed: 2, valid: "false" }, { speed: 3 }));
    assert.deepEqual(
      fixes.map(({ speed }) => speed),
      [1, 3],
    );
  });

  it("has a line for each run of one speed class, and one for each gap", () => {
    const fixes = fixesOf(drive({ speed: 0 }, { speed: 25 }, { speed: 30 }, { speed: 95 }, { speed: 90, after: 11 }));
    const lines = linesOf(fixes).features.map(({ properties, geometry }) => [
      properties?.gap ? "gap" : properties?.speed,
      geometry.coordinates.length,
    ]);
    assert.deepEqual(lines, [
      [1, 3],
      [4, 2],
      ["gap", 2],
    ]);
  });

  it("knows the classes by their lower ends", () => {
    assert.deepEqual([-1, 0, 19.9, 20, 100, 300].map(classOf), [0, 0, 0, 1, 5, 5]);
  });
});

describe("a playback", () => {
  const fixes = fixesOf(
    drive({ speed: 30 }, { speed: 0 }, { speed: 0 }, { speed: 0 }, { speed: 30 }, { speed: 30, after: 60 }),
  );

  it("is on the line between two fixes, and in a gap at its beginning", () => {
    assert.deepEqual(whereAt(fixes, start + 30_000), [0.005, 0]);
    assert.deepEqual(whereAt(fixes, start + 30 * minute), [0.04, 0]);
    assert.deepEqual(whereAt(fixes, start - minute), [0, 0]);
    assert.equal(whereAt([], start), undefined);
  });

  it("finds the fix of a moment", () => {
    assert.deepEqual(
      [-1, 0, 0.5, 1, 64, 100].map((minutes) => indexAt(fixes, start + minutes * minute)),
      [0, 0, 0, 1, 5, 5],
    );
  });

  it("goes on by the clock and the speed", () => {
    assert.equal(nextMoment(fixes, start, { passedMs: 100, speed: 64, skipStops: false }), start + 6400);
  });

  it("skips gaps, and stops where that is wanted", () => {
    const pace = { passedMs: 1000, speed: 1, skipStops: false };
    assert.equal(nextMoment(fixes, start + 4 * minute, pace), start + 64 * minute);
    assert.equal(nextMoment(fixes, start + minute, { ...pace, skipStops: true }), start + 3 * minute);
  });
});
