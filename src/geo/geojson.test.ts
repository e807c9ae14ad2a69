import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Zone } from "../model/geofence.ts";
import { whole } from "../model/steps.ts";
import { zoneOfGeoJson } from "./geojson.ts";
import { prepareZone } from "./zone.ts";

const feature = (geometry: unknown, properties: unknown = {}) => ({ type: "Feature", geometry, properties });
const polygon = (...coordinates: unknown[]) => feature({ type: "Polygon", coordinates });
const line = (coordinates: unknown, width: unknown = 1) => feature({ type: "LineString", coordinates }, { width });
const point = (coordinates: unknown, radius: unknown = 1) => feature({ type: "Point", coordinates }, { radius });
const box = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

function zone(value: unknown): Zone {
  const read = whole(zoneOfGeoJson(value));
  assert.ok(read.ok, JSON.stringify(read));
  return read.zone;
}

function problems(value: unknown): readonly string[] {
  const read = whole(zoneOfGeoJson(value));
  assert.ok(!read.ok, JSON.stringify(read));
  return read.problems;
}

describe("a zone from GeoJSON", () => {
  it("is a circle, a polygon or a route", () => {
    assert.deepEqual(zone(point([11.5, 48.1, 520], 0.2)), { kind: "circle", center: [11.5, 48.1], radius: 0.2 });
    assert.deepEqual(
      zone(
        line(
          [
            [1, 2],
            [3, 4],
          ],
          0.5,
        ),
      ),
      {
        kind: "route",
        line: [
          [1, 2],
          [3, 4],
        ],
        width: 0.5,
      },
    );
    const rings = [box(0, 0, 9, 9), box(2, 2, 3, 3), box(5, 5, 6, 6)];
    assert.deepEqual(zone(polygon(...rings)), { kind: "polygon", rings });
    assert.deepEqual(zone({ type: "Polygon", coordinates: rings }), { kind: "polygon", rings });
  });

  it("goes on over the antimeridian, however its longitudes are written", () => {
    const expected = [box(170, 0, 190, 10), box(175, 2, 181, 4)];
    const written = [
      [box(170, 0, -170, 10), box(175, 2, -179, 4)],
      [box(170, 0, 190, 10), box(175, 2, 181, 4)],
      [box(170, 0, -170, 10), box(-185, 2, -179, 4)],
    ];
    for (const rings of written) assert.deepEqual(zone(polygon(...rings)), { kind: "polygon", rings: expected });
    assert.deepEqual(
      zone(
        line([
          [179, 0],
          [-179, 1],
          [179, 2],
        ]),
      ),
      {
        kind: "route",
        line: [
          [179, 0],
          [181, 1],
          [179, 2],
        ],
        width: 1,
      },
    );
    assert.deepEqual(zone(point([190, 0])), { kind: "circle", center: [-170, 0], radius: 1 });
  });

  it("closes a ring exactly where its end was rounded in another turn", () => {
    const read = zone(
      polygon([
        [179.1, 0],
        [-179.9, 0],
        [-179.9, 9],
        [-180.9, 0],
      ]),
    );
    assert.ok(read.kind === "polygon");
    assert.deepEqual(read.rings[0]?.at(-1), [179.1, 0]);
  });

  it("leaves out corners that come twice in a row", () => {
    assert.deepEqual(
      zone(
        polygon([
          [0, 0],
          [0, 0],
          [1, 0],
          [1, 1],
          [1, 1],
          [0, 0],
          [0, 0],
        ]),
      ),
      {
        kind: "polygon",
        rings: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      },
    );
  });

  it("may reach a pole, and go once around the earth beside it", () => {
    const cap = zone(
      polygon([
        [-180, 60],
        [-90, 60],
        [0, 60],
        [90, 60],
        [180, 60],
        [180, 90],
        [90, 90],
        [0, 90],
        [-90, 90],
        [-180, 90],
        [-180, 60],
      ]),
    );
    for (const longitude of [-180, -1, 33, 180]) assert.ok(prepareZone(cap).contains(75, longitude));
    assert.equal(prepareZone(cap).contains(59, 0), false);
  });
});

describe("what is no zone is refused, and why", () => {
  const refused: readonly [string, unknown, readonly string[]][] = [
    ["no object", 5, [": must be a GeoJSON Feature"]],
    [
      "no geometry",
      feature(null),
      ["/geometry: must be a Point (with the property radius), Polygon, or LineString (with the property width)"],
    ],
    [
      "another type",
      feature({ type: "constructor" }),
      ["/geometry/type: must be Point (with the property radius), Polygon, or LineString (with the property width)"],
    ],
    [
      "several polygons",
      feature({ type: "MultiPolygon", coordinates: [] }),
      [
        "/geometry/type: a zone is one polygon: make a geofence of each. One over the antimeridian need not be cut: its longitudes may go on beyond 180",
      ],
    ],
    [
      "several features",
      { type: "FeatureCollection", features: [] },
      ["/type: a zone is one Feature: make a geofence of each"],
    ],
    [
      "bad numbers of a circle",
      point([361, Number.NaN], 0),
      [
        "/geometry/coordinates: its longitude must be between -360 and 360, and is 361",
        "/properties/radius: must be a number of km over 0, and at most 20015 (half of the way around the earth)",
      ],
    ],
    ["a bare point", { type: "Point", coordinates: [0, 0] }, ["/properties/radius: is required, in km"]],
    [
      "too wide a circle",
      point([0, 0], 20_016),
      ["/properties/radius: must be a number of km over 0, and at most 20015 (half of the way around the earth)"],
    ],
    [
      "an infinite width",
      line(
        [
          [0, 0],
          [1, 1],
        ],
        Number.POSITIVE_INFINITY,
      ),
      ["/properties/width: must be a number of km over 0, and at most 20015 (half of the way around the earth)"],
    ],
    [
      "a line of one place",
      line([
        [0, 0],
        [0, 0],
      ]),
      ["/geometry/coordinates: must have 2 different positions at least"],
    ],
    [
      "a leg to the other side of the earth",
      line([
        [0, 10],
        [180, -10],
      ]),
      [
        "/geometry/coordinates: positions 0 and 1 lie opposite each other on the earth, so it is not clear which way the route goes; put one between them",
      ],
    ],
    [
      "positions that are none",
      line([[0], ["1", 2], [0, 91], null]),
      [
        "/geometry/coordinates/0: must be a position: [longitude, latitude]",
        "/geometry/coordinates/1: its longitude must be a number",
        "/geometry/coordinates/2: its latitude must be between -90 and 90, and is 91",
        "/geometry/coordinates/3: must be a position: [longitude, latitude]",
      ],
    ],
    ["no rings", polygon(), ["/geometry/coordinates: must be an array of rings, the outer one first"]],
    [
      "rings of wrong forms",
      polygon(
        [
          [0, 0],
          [1, 0],
          [0, 0],
        ],
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
        [
          [0, 0],
          [0, 0],
          [1, 0],
          [0, 0],
        ],
        7,
      ),
      [
        "/geometry/coordinates/0: must have 4 positions at least",
        "/geometry/coordinates/1: is not closed: its last position must be the same as its first",
        "/geometry/coordinates/2: must have 3 different corners at least",
        "/geometry/coordinates/3: must be an array of positions",
      ],
    ],
    [
      "a ring around a pole",
      polygon([
        [0, 80],
        [120, 80],
        [-120, 80],
        [0, 80],
      ]),
      ["/geometry/coordinates/0: goes around a pole; use a circle, or a polygon on one side of the pole"],
    ],
    [
      "an edge half around the earth",
      polygon([
        [-90, 0],
        [90, 0],
        [90, 10],
        [-90, 0],
      ]),
      [
        "/geometry/coordinates/0: positions 0 and 1 lie on opposite longitudes, so it is not clear which way round the edge goes; put one between them",
      ],
    ],
    [
      "more than a turn",
      polygon([
        [0, 0],
        [150, 0],
        [300, 0],
        [90, 0],
        [90, 10],
        [300, 10],
        [150, 10],
        [0, 10],
        [0, 0],
      ]),
      ["/geometry/coordinates/0: goes around the earth more than once"],
    ],
    [
      "a ring that crosses itself",
      polygon([
        [0, 0],
        [0, 0],
        [2, 2],
        [2, 0],
        [0, 2],
        [0, 0],
      ]),
      ["/geometry/coordinates/0: crosses or touches itself: between positions 0 and 2, and between positions 3 and 4"],
    ],
    [
      "a ring that goes back along itself",
      polygon([
        [0, 0],
        [4, 0],
        [2, 0],
        [2, 3],
        [0, 0],
      ]),
      ["/geometry/coordinates/0: crosses or touches itself: between positions 0 and 1, and between positions 1 and 2"],
    ],
    [
      "a hole over the edge",
      polygon(box(0, 0, 9, 9), [
        [8, 4],
        [8, 5],
        [10, 4.5],
        [8, 4],
      ]),
      [
        "/geometry/coordinates/1: crosses or touches ring 0: between positions 2 and 3, and there between positions 1 and 2",
      ],
    ],
    [
      "a hole elsewhere",
      polygon(box(0, 0, 9, 9), box(20, 0, 21, 1)),
      ["/geometry/coordinates/1: is a hole outside of the outer ring"],
    ],
    [
      "a hole around the outer ring",
      polygon(box(0, 0, 9, 9), box(-1, -1, 10, 10)),
      ["/geometry/coordinates/1: is a hole outside of the outer ring"],
    ],
    [
      "a hole in a hole",
      polygon(box(0, 0, 9, 9), box(2, 2, 7, 7), box(3, 3, 4, 4)),
      ["/geometry/coordinates/2: is a hole within another hole, ring 1"],
    ],
  ];
  for (const [name, value, expected] of refused) it(name, () => assert.deepEqual(problems(value), expected));

  it("more than 10,000 positions, in all rings together", () => {
    const far = Array.from({ length: 10_001 }, (_, index) => [index / 1000, 0]);
    const text = "/geometry/coordinates: must have 10000 positions at most, and has 10001";
    assert.deepEqual(problems(line(far)), [text]);
    assert.deepEqual(problems(polygon(far.slice(0, 5000), far.slice(5000))), [text]);
  });

  it("a large polygon is read in many steps, a small one in one", () => {
    const around = Array.from({ length: 9000 }, (_, index) => {
      const angle = (index / 9000) * 2 * Math.PI;
      return [Math.cos(angle), Math.sin(angle)];
    });
    const steps = zoneOfGeoJson(polygon([...around, ...around.slice(0, 1)]));
    let count = 1;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    assert.equal(step.value.ok, true);
    // 18,000 ends of edges, 2,048 in a step: sorted, merged and swept.
    assert.ok(count > 20, String(count));
    assert.equal(zoneOfGeoJson(polygon(box(0, 0, 9, 9))).next().done, true);
  });

  it("and many problems are counted, not all listed", () => {
    const listed = problems(line(Array.from({ length: 50 }, () => [0, 91])));
    assert.equal(listed.length, 20);
    assert.equal(listed.at(-1), "and 31 more");
  });
});
