import assert from "node:assert/strict";
import { it } from "node:test";
import { unwrapped } from "./unwrap.ts";

it("a ring over the antimeridian goes on beyond it", () => {
  const ring = [
    [170, 60],
    [-170, 60],
    [-170, 70],
    [170, 70],
    [170, 60],
  ];
  assert.deepEqual(unwrapped({ type: "Polygon", coordinates: [ring] }), {
    type: "Polygon",
    coordinates: [
      [
        [170, 60],
        [190, 60],
        [190, 70],
        [170, 70],
        [170, 60],
      ],
    ],
  });
});

it("a ring around a pole is led along it", () => {
  const ring = [
    [-120, -70],
    [0, -70],
    [120, -70],
    [-120, -70],
  ];
  assert.deepEqual(unwrapped({ type: "MultiPolygon", coordinates: [[ring]] }), {
    type: "MultiPolygon",
    coordinates: [
      [
        [
          [-120, -70],
          [0, -70],
          [120, -70],
          [240, -70],
          [240, -90],
          [-120, -90],
          [-120, -70],
        ],
      ],
    ],
  });
});

it("others stay as they are", () => {
  const square = {
    type: "Polygon" as const,
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  };
  assert.deepEqual(unwrapped(square), square);
});
