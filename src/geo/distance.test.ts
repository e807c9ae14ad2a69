import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { distanceKm } from "./distance.ts";

const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });

test("known distances", () => {
  assert.equal(distanceKm(48, 11, 48, 11), 0);
  // A quarter of a great circle on the mean sphere: pi/2 times 6371.0088 km.
  assert.ok(Math.abs(distanceKm(0, 0, 90, 0) - 10_007.557) < 0.001);
  // One degree across the antimeridian is as long as any other degree of the equator.
  assert.ok(Math.abs(distanceKm(0, 179.5, 0, -179.5) - distanceKm(0, 0, 0, 1)) < 1e-9);
});

test("a distance is symmetric, never negative, and never over half of the circumference", () => {
  fc.assert(
    fc.property(latitude, longitude, latitude, longitude, (latitude1, longitude1, latitude2, longitude2) => {
      const there = distanceKm(latitude1, longitude1, latitude2, longitude2);
      const back = distanceKm(latitude2, longitude2, latitude1, longitude1);
      assert.ok(Math.abs(there - back) < 1e-6);
      assert.ok(there >= 0 && there <= 20_015.2);
    }),
  );
});
