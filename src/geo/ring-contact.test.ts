import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Corner } from "../model/geofence.ts";
import { whole } from "../model/steps.ts";
import { segmentsTouch, turn } from "./plane.ts";
import { ringContact } from "./ring-contact.ts";

type Edge = { ring: number; corner: number; of: number; from: Corner; to: Corner };

function edgesOf(rings: readonly (readonly Corner[])[]): Edge[] {
  return rings.flatMap((ring, index) =>
    ring
      .slice(1)
      .map((to, corner): Edge => ({ ring: index, corner, of: ring.length - 1, from: ring[corner] ?? to, to })),
  );
}

function follows(one: Edge, other: Edge): boolean {
  return one.ring === other.ring && (one.corner + 1) % one.of === other.corner;
}

/** Whether two edges touch where they should not, by looking at them. */
function touch(one: Edge, other: Edge): boolean {
  if (follows(other, one)) return touch(other, one);
  if (!follows(one, other)) return segmentsTouch(...one.from, ...one.to, ...other.from, ...other.to);
  const [x, y] = one.to;
  const back = (one.from[0] - x) * (other.to[0] - x) + (one.from[1] - y) * (other.to[1] - y);
  return turn(...one.to, ...one.from, ...other.to) === 0 && back > 0;
}

/** Few different corners, so that they touch, overlap and go back along themselves often. */
const ring = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), {
    minLength: 3,
    maxLength: 9,
    selector: String,
  })
  .chain((corners) =>
    fc
      .array(fc.nat(), { maxLength: 3 })
      .map((again) => [...corners, ...again.map((pick) => corners[pick % corners.length] ?? corners[0])]),
  )
  .map((corners) => corners.filter((corner, index) => String(corner) !== String(corners[(index + 1) % corners.length])))
  .filter((corners) => corners.length >= 3)
  .map((corners): Corner[] =>
    [...corners, ...corners.slice(0, 1)].flatMap((corner) => (corner === undefined ? [] : [corner])),
  );

test("rings touch exactly where comparing every edge with every other says so", () => {
  fc.assert(
    fc.property(fc.array(ring, { minLength: 1, maxLength: 3 }), (rings) => {
      const edges = edgesOf(rings);
      const expected = edges.some((one, index) => edges.slice(index + 1).some((other) => touch(one, other)));
      const found = whole(ringContact(rings));
      assert.equal(found !== undefined, expected);
      if (found === undefined) return;
      const [one, other] = found.map((edge) =>
        edges.find(({ ring: of, corner }) => of === edge.ring && corner === edge.corner),
      );
      assert.ok(
        one !== undefined && other !== undefined && one !== other && touch(one, other),
        "the pair that is named touches",
      );
    }),
    { numRuns: 3000 },
  );
});

test("a ring of 10,000 corners is looked through, and a crossing in it found", () => {
  const corners = Array.from({ length: 10_000 }, (_, index): Corner => {
    const angle = (index / 10_000) * 2 * Math.PI;
    const radius = 10 + (index % 2);
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  assert.equal(whole(ringContact([[...corners, ...corners.slice(0, 1)]])), undefined);
  const swapped = [
    ...corners.slice(0, 5000),
    corners[5002],
    corners[5001],
    corners[5000],
    ...corners.slice(5003),
    corners[0],
  ];
  const found = whole(ringContact([swapped.flatMap((corner) => (corner === undefined ? [] : [corner]))]));
  assert.ok(
    found?.every(({ corner }) => corner >= 4999 && corner <= 5002),
    JSON.stringify(found),
  );
});
