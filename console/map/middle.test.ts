import assert from "node:assert/strict";
import { it } from "node:test";
import { middleOf } from "./middle.ts";

function square(west: number, south: number, side: number): number[][] {
  const east = west + side;
  const north = south + side;
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

it("a name stands in the middle of the largest part", () => {
  assert.deepEqual(middleOf({ type: "Polygon", coordinates: [square(10, 20, 2)] }), { place: [11, 21], area: 4 });
  const islands = { type: "MultiPolygon" as const, coordinates: [[square(0, 0, 1)], [square(10, 20, 2)]] };
  assert.deepEqual(middleOf(islands)?.place, [11, 21]);
  assert.equal(middleOf({ type: "Point", coordinates: [0, 0] }), undefined);
});
