import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawnOf, zoneOf } from "./drawn.ts";

const ring = [
  [10, 50],
  [10.2, 50],
  [10.2, 50.1000004],
  [10, 50],
];

describe("a drawn zone", () => {
  it("is a polygon with places to the decimetre", () => {
    const zone = zoneOf({ geometry: { type: "Polygon", coordinates: [ring] }, properties: { mode: "polygon" } }, 1);
    assert.deepEqual(zone, { type: "Polygon", coordinates: [[...ring.slice(0, 2), [10.2, 50.1], [10, 50]]] });
  });

  it("is a place and a radius where it is a circle", () => {
    const drawn = {
      geometry: {
        type: "Polygon",
        coordinates: [
          [
            [10, 50],
            [12, 50],
            [12, 52],
            [10, 52],
            [10, 50],
          ],
        ],
      },
      properties: { mode: "circle", radiusKilometers: 0.51234 },
    };
    assert.deepEqual(zoneOf(drawn, 1), { type: "Point", coordinates: [11, 51], radius: 0.512 });
  });

  it("is a route with a width where it is a line", () => {
    const line = { type: "LineString", coordinates: [ring[0], ring[1]] };
    assert.deepEqual(zoneOf({ geometry: line, properties: { mode: "linestring" } }, 0.2), { ...line, width: 0.2 });
  });

  it("comes back as it was", () => {
    const circle = { type: "Point", coordinates: [10, 0], radius: 1.5 };
    assert.deepEqual(zoneOf(drawnOf(circle), 1), circle);
    const route = {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
      width: 0.3,
    };
    assert.deepEqual(zoneOf(drawnOf(route), 0.3), route);
  });
});
