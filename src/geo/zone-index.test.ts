import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Corner, Zone } from "../model/geofence.ts";
import { distanceKm } from "./distance.ts";
import { prepareZone } from "./zone.ts";
import { ZoneIndex } from "./zone-index.ts";

const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const corner = fc.tuple(longitude, latitude);
const radius = fc.oneof(
  fc.double({ min: 0.1, max: 100, noNaN: true }),
  fc.double({ min: 100, max: 15_000, noNaN: true }),
);

const circle = fc.tuple(corner, radius).map(([center, km]): Zone => ({ kind: "circle", center, radius: km }));
const route = fc
  .tuple(fc.array(corner, { minLength: 2, maxLength: 5 }), radius)
  .map(([line, width]): Zone => ({ kind: "route", line, width }));
const rectangle = fc
  .tuple(corner, fc.double({ min: 0.01, max: 360, noNaN: true }), fc.double({ min: 0.01, max: 60, noNaN: true }))
  .map(([[west, south], width, height]): Zone => {
    const north = Math.min(90, south + height);
    const middle = west + width / 2;
    const east = west + width;
    const ring: Corner[] = [
      [west, south],
      [middle, south],
      [east, south],
      [east, north],
      [middle, north],
      [west, north],
      [west, south],
    ];
    return { kind: "polygon", rings: [ring] };
  });

test("the index finds every zone that a way touches, each once", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(circle, route, rectangle), { maxLength: 60 }),
      latitude,
      longitude,
      latitude,
      fc.oneof(longitude, fc.double({ min: -1, max: 1, noNaN: true })),
      fc.boolean(),
      (zones, lat1, lon1, lat2, to, far) => {
        const prepared = zones.map((zone) => prepareZone(zone));
        const index = new ZoneIndex(prepared.map((zone, key) => ({ key, prepared: zone })));
        const lon2 = far ? to : lon1 + (to % 2);
        // Between opposite places rounding alone decides where the way goes.
        fc.pre(distanceKm(lat1, lon1, lat2, lon2) < 20_000);
        const found: number[] = [];
        index.near(lat1, lon1, lat2, lon2, (zone) => found.push(zone));
        assert.equal(new Set(found).size, found.length, "each once");
        for (const [position, zone] of prepared.entries())
          if (zone.crosses(lat1, lon1, lat2, lon2)) assert.ok(found.includes(position), `zone ${position}`);
      },
    ),
    { numRuns: 400 },
  );
});

test("the index answers for few of many zones, whatever turn the longitudes have", () => {
  const zones = Array.from({ length: 10_000 }, (_, index) =>
    prepareZone({
      kind: "circle",
      center: [(index % 100) * 3.6 - 180, Math.floor(index / 100) * 1.2 - 60],
      radius: 20,
    }),
  );
  const index = new ZoneIndex(zones.map((prepared, key) => ({ key, prepared })));
  for (const turn of [-360, 0, 360]) {
    const found: number[] = [];
    index.near(0, -179.9 + turn, 0, 179.9, (zone) => found.push(zone));
    assert.deepEqual(found, [5000]);
  }
});

test("an empty index finds nothing", () => {
  new ZoneIndex([]).near(0, 0, 1, 1, () => assert.fail());
});
