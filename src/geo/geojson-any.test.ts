import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Corner } from "../model/geofence.ts";
import { whole } from "../model/steps.ts";
import { geoJsonOfZone, zoneOfGeoJson } from "./geojson.ts";
import { prepareZone } from "./zone.ts";

const feature = (geometry: unknown, properties: unknown = {}) => ({ type: "Feature", geometry, properties });

describe("any zone", () => {
  const corner = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  );

  it("that is accepted comes back the same, and can be asked", () => {
    const geometry = fc.oneof(
      fc.record({ type: fc.constant("Point"), coordinates: corner }),
      fc.record({ type: fc.constant("LineString"), coordinates: fc.array(corner, { maxLength: 6 }) }),
      fc.record({
        type: fc.constant("Polygon"),
        coordinates: fc.array(
          fc
            .array(corner, { minLength: 2, maxLength: 4 })
            .map((corners): Corner[] => [...corners, ...corners.slice(0, 1)]),
          { maxLength: 2 },
        ),
      }),
    );
    const length = fc.double({ min: 0, max: 25_000, noNaN: true });
    fc.assert(
      fc.property(geometry, length, length, corner, (shape, radius, width, [longitude, latitude]) => {
        const read = whole(zoneOfGeoJson(feature(shape, { radius, width })));
        if (!read.ok) {
          assert.ok(read.problems.length > 0);
          return;
        }
        assert.deepEqual(whole(zoneOfGeoJson(JSON.parse(JSON.stringify(geoJsonOfZone(read.zone))))), read);
        prepareZone(read.zone).contains(latitude, longitude);
      }),
      { numRuns: 1000 },
    );
  });

  it("comes back the same where a leg goes half around the earth but for rounding", () => {
    const coordinates = [
      [-179.99999999999994, 0],
      [7.105427357601003e-14, -5e-324],
    ];
    const read = whole(zoneOfGeoJson(feature({ type: "LineString", coordinates }, { width: 1 })));
    assert.ok(read.ok);
    assert.deepEqual(whole(zoneOfGeoJson(JSON.parse(JSON.stringify(geoJsonOfZone(read.zone))))), read);
  });

  it("comes back the same where a hole begins at its outer ring's west end but for rounding, and where it goes on around the earth", () => {
    const hole: Corner = [-3.891244846248649e-260, -4.3458473798974e-311];
    const polygon = (rings: readonly (readonly Corner[])[]) => feature({ type: "Polygon", coordinates: rings });
    const turned = whole(
      zoneOfGeoJson(
        polygon([
          [
            [0, 6.3e-65],
            [0, 0],
            [-3.8912448462486486e-260, -5e-324],
            [0, 6.3e-65],
          ],
          [[0, 0], [2.8421709430404014e-14, -5e-324], hole, [0, 0]],
        ]),
      ),
    );
    if (turned.ok)
      assert.deepEqual(whole(zoneOfGeoJson(JSON.parse(JSON.stringify(geoJsonOfZone(turned.zone))))), turned);
    const around: Corner[] = [
      [180, 0],
      [-90, 1],
      [0, 2],
      [90.1, 3],
      [0, 4],
      [-90, 5],
      [180, 6],
      [180, 0],
    ];
    for (const given of [
      polygon([around]),
      feature(
        { type: "LineString", coordinates: [...around.slice(0, 4), [-179.9, 3], [-80.3, 3], [20.7, 3]] },
        { width: 1 },
      ),
    ]) {
      const read = whole(zoneOfGeoJson(given));
      assert.ok(read.ok, JSON.stringify(read));
      assert.deepEqual(whole(zoneOfGeoJson(JSON.parse(JSON.stringify(geoJsonOfZone(read.zone))))), read);
    }
  });

  it("that is no GeoJSON is refused without a throw", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const given of [
          value,
          feature(value),
          feature({ type: "Polygon", coordinates: value }),
          feature({ type: "LineString", coordinates: value }, { width: 1 }),
          feature({ type: "Point", coordinates: value }, { radius: value }),
        ])
          assert.equal(typeof whole(zoneOfGeoJson(given)).ok, "boolean");
      }),
    );
  });
});
