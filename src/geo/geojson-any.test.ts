import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Corner } from "../model/geofence.ts";
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
        const read = zoneOfGeoJson(feature(shape, { radius, width }));
        if (!read.ok) {
          assert.ok(read.problems.length > 0);
          return;
        }
        assert.deepEqual(zoneOfGeoJson(JSON.parse(JSON.stringify(geoJsonOfZone(read.zone)))), read);
        prepareZone(read.zone).contains(latitude, longitude);
      }),
      { numRuns: 1000 },
    );
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
          assert.equal(typeof zoneOfGeoJson(given).ok, "boolean");
      }),
    );
  });
});
