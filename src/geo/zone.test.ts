import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Corner, Zone } from "../model/geofence.ts";
import { distanceKm } from "./distance.ts";
import { shortWay } from "./longitude.ts";
import { segmentsTouch } from "./plane.ts";
import { prepareZone } from "./zone.ts";

/** Sixteenths of a degree: sums and products of a few are exact, so polygons can be asked of their very edges. */
const grid = (from: number, to: number) => fc.integer({ min: from * 16, max: to * 16 }).map((steps) => steps / 16);
const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -540, max: 540, noNaN: true });
const turns = fc.integer({ min: -2, max: 2 }).map((turn) => turn * 360);

/** A simple ring around a center: corners at growing angles. */
const star = (westmost: number, eastmost: number) =>
  fc
    .tuple(
      grid(westmost, eastmost),
      grid(-60, 60),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 1, max: 20 })), {
        minLength: 3,
        maxLength: 40,
      }),
    )
    .map(([x, y, spokes]): Corner[] => {
      const byAngle = new Map(spokes);
      for (const angle of [0, 21, 42]) if (!byAngle.has(angle)) byAngle.set(angle, 5);
      const corners = [...byAngle]
        .toSorted(([one], [other]) => one - other)
        .map(([angle, radius]): Corner => {
          const turn = (angle / 64) * 2 * Math.PI;
          return [x + Math.round(Math.cos(turn) * radius * 16) / 16, y + Math.round(Math.sin(turn) * radius * 16) / 16];
        });
      return [...corners, ...corners.slice(0, 1)];
    });

const circle = (center: Corner, radius: number): Zone => ({ kind: "circle", center, radius });
const route = (line: readonly Corner[], width: number): Zone => ({ kind: "route", line, width });
const polygon = (...rings: readonly (readonly Corner[])[]): Zone => ({ kind: "polygon", rings });

function movedZone(zone: Zone, by: number): Zone {
  const moved = ([x, y]: Corner): Corner => [x + by, y];
  if (zone.kind === "circle") return { ...zone, center: moved(zone.center) };
  if (zone.kind === "route") return { ...zone, line: zone.line.map(moved) };
  return { ...zone, rings: zone.rings.map((ring) => ring.map(moved)) };
}

/** Point at a part of the great circle between two positions, by spherical interpolation. */
function between(lat1: number, lon1: number, lat2: number, lon2: number, part: number): [number, number] {
  const r = Math.PI / 180;
  const vector = (lat: number, lon: number) => [
    Math.cos(lat * r) * Math.cos(lon * r),
    Math.cos(lat * r) * Math.sin(lon * r),
    Math.sin(lat * r),
  ];
  const [a, b] = [vector(lat1, lon1), vector(lat2, lon2)];
  const angle = distanceKm(lat1, lon1, lat2, lon2) / 6371.0088;
  const [f, g] = angle < 1e-9 ? [1 - part, part] : [Math.sin((1 - part) * angle), Math.sin(part * angle)];
  const [x = 0, y = 0, z = 0] = a.map((value, axis) => f * value + g * (b[axis] ?? 0));
  return [Math.atan2(z, Math.hypot(x, y)) / r, Math.atan2(y, x) / r];
}

test("a circle holds what is within its radius, over the antimeridian and around a pole too", () => {
  fc.assert(
    fc.property(
      latitude,
      longitude,
      fc.double({ min: 0.001, max: 20_000, noNaN: true }),
      latitude,
      longitude,
      (lat, lon, radius, atLat, atLon) => {
        const distance = distanceKm(lat, lon, atLat, atLon);
        // Near the antipode a millimetre is below what the formulas tell apart.
        fc.pre(Math.abs(distance - radius) > 1e-6 && distance < 20_000);
        assert.equal(prepareZone(circle([lon, lat], radius)).contains(atLat, atLon), distance < radius);
      },
    ),
  );
  const arctic = prepareZone(circle([0, 90], 1000));
  assert.deepEqual([arctic.contains(85, -170), arctic.contains(85, 20), arctic.contains(80, 20)], [true, true, false]);
  // From one side of the pole to the other: the great circle goes over it.
  assert.equal(arctic.crosses(80, 10, 80, -170), true);
});

test("a small circle is as exact as a large one", () => {
  const yard = prepareZone(circle([11.5, 48.1], 0.01));
  const metre = 1 / 111_195;
  assert.equal(yard.contains(48.1 + 9.99 * metre, 11.5), true);
  assert.equal(yard.contains(48.1 + 10.01 * metre, 11.5), false);
  assert.equal(yard.crosses(48.1 + 9.99 * metre, 11.4999, 48.1 + 9.99 * metre, 11.5001), true);
  assert.equal(yard.crosses(48.1 + 10.1 * metre, 11.4999, 48.1 + 10.1 * metre, 11.5001), false);
});

const line = fc
  .tuple(grid(-180, 180), grid(-80, 80), fc.array(fc.tuple(grid(-5, 5), grid(-5, 5)), { minLength: 1, maxLength: 30 }))
  .map(([x, y, steps]) => {
    const corners: Corner[] = [[x, y]];
    for (const [dx, dy] of steps) {
      const [lastX, lastY] = corners.at(-1) ?? [x, y];
      corners.push([lastX + dx, Math.max(-89, Math.min(89, lastY + dy))]);
    }
    return corners;
  });

test("a way crosses a circle or a route exactly where some point of it is within reach", () => {
  const near = fc.tuple(fc.double({ min: -8, max: 8, noNaN: true }), fc.double({ min: -8, max: 8, noNaN: true }));
  fc.assert(
    fc.property(
      line,
      near,
      near,
      fc.double({ min: 1, max: 300, noNaN: true }),
      turns,
      (corners, from, to, width, turn) => {
        const [x, y] = corners[corners.length >> 1] ?? [0, 0];
        const clamp = (value: number) => Math.max(-90, Math.min(90, value));
        const way = [clamp(y + from[1]), x + from[0] + turn, clamp(y + to[1]), x + to[0] - turn] as const;
        for (const zone of [route(corners, width), circle([x, y], width / 2)]) {
          const prepared = prepareZone(zone);
          const points = Array.from({ length: 101 }, (_, step) => between(...way, step / 100));
          const touched = points.some(([lat, lon]) => prepared.contains(lat, lon));
          const crosses = prepared.crosses(...way);
          if (touched) assert.ok(crosses);
          else if (crosses) {
            // Between two of the samples: a somewhat wider zone must hold one of them.
            const step = distanceKm(...way) / 100;
            const wider = prepareZone(
              zone.kind === "route" ? { ...zone, width: width + step + 1e-6 } : circle([x, y], width / 2 + step + 1e-6),
            );
            assert.ok(points.some(([lat, lon]) => wider.contains(lat, lon)));
          }
        }
      },
    ),
  );
});

test("a route holds what is within half of its width of any leg", () => {
  fc.assert(
    fc.property(
      line,
      fc.nat(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 1, max: 300, noNaN: true }),
      latitude,
      longitude,
      (corners, pick, part, width, lat, lon) => {
        const prepared = prepareZone(route(corners, width));
        const leg = pick % (corners.length - 1);
        const [[x1, y1] = [0, 0], [x2, y2] = [0, 0]] = corners.slice(leg);
        assert.ok(prepared.contains(...between(y1, x1, y2, x2, part)));
        const samples = corners.slice(1).flatMap(([toX, toY], index) => {
          const [fromX, fromY] = corners[index] ?? [0, 0];
          const most = Math.ceil(distanceKm(fromY, fromX, toY, toX)) || 1;
          return Array.from({ length: most + 1 }, (_, step) => between(fromY, fromX, toY, toX, step / most));
        });
        const distance = Math.min(...samples.map(([atLat, atLon]) => distanceKm(lat, lon, atLat, atLon)));
        if (distance <= width / 2 - 1e-6) assert.ok(prepared.contains(lat, lon));
        if (distance > width / 2 + 1) assert.ok(!prepared.contains(lat, lon));
      },
    ),
    { numRuns: 50 },
  );
});

/** Point in rings by the textbook: every edge asked, the point turned to all turns that can matter. */
function enclosed(rings: readonly (readonly Corner[])[], lat: number, lon: number): boolean {
  return [-1080, -720, -360, 0, 360, 720, 1080].some((turn) => {
    const x = lon + turn;
    let inside = false;
    for (const ring of rings)
      for (let corner = 1; corner < ring.length; corner++) {
        const [[x1, y1] = [0, 0], [x2, y2] = [0, 0]] = ring.slice(corner - 1);
        if (segmentsTouch(x1, y1, x2, y2, x, lat, x, lat)) return true;
        if (y1 > lat !== y2 > lat && x < x1 + ((lat - y1) * (x2 - x1)) / (y2 - y1)) inside = !inside;
      }
    return inside;
  });
}

function met(rings: readonly (readonly Corner[])[], lat1: number, lon1: number, lat2: number, lon2: number): boolean {
  const way = shortWay(lon1, lon2);
  if (enclosed(rings, lat1, lon1) || enclosed(rings, lat2, lon2)) return true;
  return [-1080, -720, -360, 0, 360, 720, 1080].some((turn) =>
    rings.some((ring) =>
      ring.slice(1).some(([x2, y2], index) => {
        const [x1, y1] = ring[index] ?? [0, 0];
        return segmentsTouch(lon1 + turn, lat1, lon1 + way + turn, lat2, x1, y1, x2, y2);
      }),
    ),
  );
}

test("a polygon with holes is what asking every edge finds, its very edges included", () => {
  const way = fc.tuple(grid(-90, 90), grid(-400, 400), grid(-90, 90), grid(-179, 179));
  fc.assert(
    fc.property(
      star(-200, 200),
      star(-200, 200),
      way,
      fc.nat(),
      turns,
      (outer, other, [lat1, lon1, lat2, step], pick, turn) => {
        const [x = 0, y = 0] = outer[pick % outer.length] ?? [];
        const sameTurn = 360 * Math.round((x - (other[0]?.[0] ?? 0)) / 360);
        const hole = other.map(([lon, lat]): Corner => [lon + sameTurn, lat]);
        const prepared = prepareZone(polygon(outer, hole));
        const rings = [outer, hole];
        for (const [lat, lon] of [
          [lat1, lon1],
          [y, x + turn],
          [y, lon1],
          [lat1, x],
        ] as const) {
          assert.equal(prepared.contains(lat, lon), enclosed(rings, lat, lon));
          assert.equal(prepared.crosses(lat, lon, lat2, lon + step), met(rings, lat, lon, lat2, lon + step));
          assert.equal(prepared.crosses(lat, lon, lat, lon), prepared.contains(lat, lon));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("moving all longitudes by the same angle changes no answer", () => {
  const zones = fc.oneof(
    star(-180, 180).map((ring) => polygon(ring)),
    fc
      .tuple(grid(-180, 180), grid(-90, 90), fc.integer({ min: 1, max: 9000 }))
      .map(([x, y, radius]) => circle([x, y], radius)),
    fc.tuple(line, fc.integer({ min: 1, max: 500 })).map(([corners, width]) => route(corners, width)),
  );
  fc.assert(
    fc.property(
      zones,
      grid(-400, 400),
      grid(-90, 90),
      grid(-200, 200),
      grid(-90, 90),
      grid(-200, 200),
      (zone, by, lat1, lon1, lat2, lon2) => {
        // Opposite fixes have no short way.
        fc.pre(Math.abs(shortWay(lon1, lon2)) < 179);
        const [here, there] = [prepareZone(zone), prepareZone(movedZone(zone, by))];
        assert.equal(there.contains(lat1, lon1 + by), here.contains(lat1, lon1));
        assert.equal(there.crosses(lat1, lon1 + by, lat2, lon2 + by), here.crosses(lat1, lon1, lat2, lon2));
        assert.ok(there.box.west >= -180 && there.box.west < 180 && there.box.east <= there.box.west + 360);
      },
    ),
    { numRuns: 300 },
  );
});

test("a zone holds a fix exactly where a way of no length from it crosses the zone, and reaches both ends of any way", () => {
  const zones = fc.oneof(
    star(-180, 180).map((ring) => polygon(ring)),
    fc
      .tuple(longitude, latitude, fc.double({ min: 1, max: 9000, noNaN: true }))
      .map(([x, y, radius]) => circle([x, y], radius)),
    fc.tuple(line, fc.double({ min: 1, max: 500, noNaN: true })).map(([corners, width]) => route(corners, width)),
  );
  fc.assert(
    fc.property(zones, latitude, longitude, latitude, longitude, (zone, lat1, lon1, lat2, lon2) => {
      const prepared = prepareZone(zone);
      assert.equal(prepared.crosses(lat1, lon1, lat1, lon1), prepared.contains(lat1, lon1));
      if (prepared.contains(lat1, lon1) || prepared.contains(lat2, lon2))
        assert.ok(prepared.crosses(lat1, lon1, lat2, lon2));
      assert.equal(prepared.contains(Number.NaN, lon1), false);
      assert.equal(prepared.contains(lat1, Number.NaN), false);
    }),
    { numRuns: 300 },
  );
});

test("a polygon of 10,000 corners is asked like a small one", () => {
  const ring = Array.from({ length: 10_000 }, (_, index): Corner => {
    const angle = (index / 10_000) * 2 * Math.PI;
    const radius = 10 + (index % 2);
    return [178 + radius * Math.cos(angle), 20 + radius * Math.sin(angle)];
  });
  const prepared = prepareZone(polygon([...ring, ...ring.slice(0, 1)]));
  assert.equal(prepared.contains(20, -179), true);
  assert.equal(prepared.contains(20, -170), false);
  assert.equal(prepared.crosses(20, 160, 20, -160), true);
  assert.equal(prepared.crosses(32, 160, 32, -160), false);
});
