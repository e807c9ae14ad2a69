import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { freshRecordOf } from "../ingest/fresh-record.ts";
import { alarmNames } from "../model/alarms.ts";
import type { Report } from "../model/effects.ts";
import { type Observation, observationOf } from "../model/observation.ts";
import { readingNames, readingRows } from "../model/readings.ts";
import { Seen } from "./judge.ts";
import { equals, numberReaderOf, readerOf } from "./values.ts";

const numbers = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0);
const kinds = { number: numbers, boolean: fc.boolean(), string: fc.string() };
const told = {
  alarms: fc.subarray([...alarmNames]),
  readings: fc.record(Object.fromEntries(Object.entries(readingRows).map(([name, { kind }]) => [name, kinds[kind]])), {
    requiredKeys: [],
    noNullPrototype: true,
  }),
  attributes: fc.dictionary(
    fc.oneof(
      fc.string().filter((name) => !name.startsWith("reported.")),
      fc.constantFrom("gear", "valid", "alarms", "speed", "archive"),
    ),
    fc.oneof(fc.string(), numbers, fc.boolean()),
    { noNullPrototype: true },
  ),
};
const motion = fc.record(
  { speed: numbers, course: numbers, altitude: numbers },
  { requiredKeys: [], noNullPrototype: true },
);
const reports: fc.Arbitrary<Report> = fc.oneof(
  fc.record({ type: fc.constant("readings" as const), time: fc.constant(1), ...told }),
  fc
    .tuple(fc.record({ valid: fc.boolean(), latitude: numbers, longitude: numbers, ...told }), motion)
    .map(([fix, own]): Report => ({ type: "fix", time: 1, ...fix, ...own })),
);

/** What rules may look at. */
function seenIn(observation: Observation, names: readonly string[]): object {
  const seen = new Seen();
  seen.observation = observation;
  seen.placed = observation.positioned;
  const { time, receivedAt, located, positioned, latitude, longitude, alarms } = observation;
  const values = names.map((name) => {
    const value = readerOf(name)(seen);
    const asked = value === undefined ? [] : [1, "1", true, "true", String(value)].map((one) => equals(value, one));
    return { name, value, asked, number: numberReaderOf(name)(seen) };
  });
  return { time, receivedAt, located, positioned, latitude, longitude, alarms, values };
}

test("rules see the same of a record that has just come and of the same record from storage", () => {
  fc.assert(
    fc.property(reports, (report) => {
      const fresh = freshRecordOf(report, 1, 2, true);
      const names = [...readingNames, ...Object.keys(report.attributes), "speed", "course", "altitude", "milleage"];
      assert.deepEqual(seenIn(observationOf(fresh), names), seenIn(fresh, names));
    }),
  );
});
