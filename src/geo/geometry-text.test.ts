import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Corner, Zone } from "../model/geofence.ts";
import { geometryOfZone, geometryTextOf } from "./geometry-text.ts";

const corner: fc.Arbitrary<Corner> = fc.tuple(
  fc.oneof(
    fc.double({ min: -2000, max: 2000, noNaN: true }),
    fc.constantFrom(0, -0, 180, -180, 359.999, 360, -360, 360.001, -360.5, 1000),
  ),
  fc.double({ min: -90, max: 90, noNaN: true }),
);
const line = fc.array(corner, { minLength: 2, maxLength: 6 });
const length = fc.double({ min: 0.001, max: 20_000, noNaN: true });
const zone: fc.Arbitrary<Zone> = fc.oneof(
  fc.record({ kind: fc.constant("circle" as const), center: corner, radius: length }),
  fc.record({ kind: fc.constant("polygon" as const), rings: fc.array(line, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("route" as const), line, width: length }),
);

test("the text of a zone's geometry is made from the zone's text alone", () => {
  fc.assert(
    fc.property(zone, (one) => {
      assert.equal(geometryTextOf(JSON.stringify(one)), JSON.stringify(geometryOfZone(one)));
    }),
    { numRuns: 2000 },
  );
});

test("a zone whose fields stand in another order is read", () => {
  assert.equal(
    geometryTextOf('{"radius":0.5,"kind":"circle","center":[-74,4.7]}'),
    '{"type":"Point","coordinates":[-74,4.7],"radius":0.5}',
  );
});
