import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { alarmNames } from "./alarms.ts";
import { reservedAttributes } from "./attribute-names.ts";
import type { Report } from "./effects.ts";
import { extrasOf } from "./location-json.ts";
import { observationOf, StoredObservation } from "./observation.ts";
import { type Readings, readingRows } from "./readings.ts";
import type { SaidRecord } from "./said.ts";

const numbers = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0);
const kinds = { number: numbers, boolean: fc.boolean(), string: fc.string() };
const readings: fc.Arbitrary<Readings> = fc.record(
  Object.fromEntries(Object.entries(readingRows).map(([name, { kind }]) => [name, kinds[kind]])),
  { requiredKeys: [], noNullPrototype: true },
);
const attributes = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("valid", "alarms", "speed", "reported.fuel")),
  fc.oneof(fc.string(), numbers, fc.boolean()),
  {
    noNullPrototype: true,
  },
);
const reports: fc.Arbitrary<Report> = fc
  .record({
    alarms: fc.subarray([...alarmNames]),
    readings,
    attributes,
    altitude: fc.option(numbers, { nil: undefined }),
    fix: fc.boolean(),
    valid: fc.boolean(),
  })
  .map(({ altitude, fix, valid, ...told }) =>
    fix
      ? { type: "fix", time: 1, valid, latitude: 1, longitude: 2, ...(altitude !== undefined && { altitude }), ...told }
      : { type: "readings", time: 1, ...told },
  );

/**
 * Numbers are exact, though the API rounds some; flags below the highest reported are there, and attributes are text.
 */
function asStored({ readings: told }: Report): Readings {
  const all: Record<string, number | boolean | string> = { ...told };
  for (const kind of ["input", "output"]) {
    const highest = [8, 7, 6, 5, 4, 3, 2, 1].find((index) => all[kind + index] !== undefined) ?? 0;
    for (let index = 1; index <= highest; index++) all[kind + index] ??= false;
  }
  return all;
}

const names = [
  ...(["time", "receivedAt", "located", "positioned", "latitude", "longitude"] as const),
  ...(["speed", "course", "altitude", "readings", "attributes"] as const),
];

test("a stored record is observed as its report was", () => {
  fc.assert(
    fc.property(reports, (report) => {
      // Names that pass for the service's own stand under others; two that then are the same can't both be told.
      fc.pre(Object.keys(report.attributes).every((name) => !name.startsWith("reported.")));
      const said = { time: 1, receivedAt: 3, valid: report.type === "fix" && report.valid, latitude: 1, longitude: 2 };
      const record: SaidRecord = {
        ...said,
        key: 2,
        ...(report.type === "readings" && { unlocated: true }),
        extras: extrasOf(report),
      };
      const seen = observationOf(record);
      const judged = new StoredObservation(record);
      assert.deepEqual(judged.alarms, seen.alarms);
      for (const name of names) assert.deepEqual(judged[name], seen[name], name);
      assert.deepEqual(judged.alarms, seen.alarms);
      assert.deepEqual(seen.readings, asStored(report));
      assert.deepEqual(seen.alarms, report.alarms);
      assert.equal(seen.altitude, report.type === "fix" ? report.altitude : undefined);
      assert.equal(seen.located, report.type === "fix");
      assert.equal(seen.positioned, record.valid);
      const told = Object.entries(report.attributes).map(([name, value]) => [name, String(value)]);
      assert.deepEqual(Object.entries(seen.attributes).sort(), told.sort());
    }),
  );
});

test("names that the service keeps for itself are the tracker's own again", () => {
  for (const name of reservedAttributes) {
    const extras = extrasOf({ type: "readings", alarms: [], readings: {}, attributes: { [name]: "own" } });
    const said = { time: 1, receivedAt: 1, key: 1, valid: false, latitude: 0, longitude: 0 };
    const seen = observationOf({ ...said, extras });
    assert.deepEqual(seen.attributes, { [name]: "own" });
    assert.deepEqual(seen.readings, {});
  }
});
