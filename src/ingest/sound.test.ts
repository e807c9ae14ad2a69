import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Fix } from "../model/effects.ts";
import { readingRows } from "../model/readings.ts";
import { isSoundText } from "../model/text.ts";
import { longestName, longestText, mostTextBytes, mostValues, soundReport } from "./sound.ts";

const fix: Fix = {
  type: "fix",
  time: Date.UTC(2026, 0, 1),
  valid: true,
  latitude: 48,
  longitude: 11,
  altitude: 500,
  speed: 12.5,
  course: 90,
  alarms: ["sos"],
  readings: { battery: 85, ignition: true, driverId: "A1" },
  attributes: { note: "grün 🚚\n", count: 3, flag: false },
};

function soundOf(report: Fix): { readonly report: Fix; readonly dropped: number } {
  let dropped = 0;
  const sound = soundReport(report, (values) => {
    dropped += values;
  });
  assert.equal(sound.type, "fix");
  return { report: sound as Fix, dropped };
}

describe("a report that enters ingest", () => {
  it("stays the same object where nothing is wrong with it", () => {
    assert.equal(soundOf(fix).report, fix);
  });

  it("loses numbers that are not finite or not exact, and says so", () => {
    const { POSITIVE_INFINITY: infinity, NaN: nan, MAX_VALUE: huge } = Number;
    const { report, dropped } = soundOf({
      ...fix,
      speed: infinity,
      altitude: -infinity,
      course: nan,
      readings: { ...fix.readings, temperature: infinity, fuel: nan, rpm: 2 ** 53 },
      attributes: { ...fix.attributes, adc: huge, level: infinity },
    });
    assert.equal(dropped, 8);
    assert.deepEqual(report.readings, fix.readings);
    assert.deepEqual(report.attributes, { ...fix.attributes, unusableValues: 8 });
    assert.deepEqual([report.speed, report.altitude, report.course], [undefined, undefined, undefined]);
    for (const name of ["speed", "altitude", "course"]) assert.ok(!(name in report));
  });

  it("has no minus zero", () => {
    const { report, dropped } = soundOf({ ...fix, altitude: -0, readings: { temperature: -0 }, attributes: { x: -0 } });
    assert.equal(dropped, 0);
    for (const value of [report.altitude, report.readings.temperature, report.attributes.x])
      assert.ok(Object.is(value, 0));
  });

  it("has texts that are well-formed, without control characters", () => {
    const given = { ...fix, readings: { driverId: "AB\0\0" }, attributes: { "a\u0007": "x\u0000y", half: "\ud83d!" } };
    const { report, dropped } = soundOf(given);
    assert.equal(dropped, 0);
    assert.deepEqual(report.readings, { driverId: "AB" });
    assert.deepEqual(report.attributes, { "a\ufffd": "x\ufffdy", half: "\ufffd!" });
  });

  it("has an end: of each text, of each name, of the number of values and of all texts", () => {
    const bounds = (attributes: Fix["attributes"]) => soundOf({ ...fix, readings: {}, attributes });
    const name = "n".repeat(longestName);
    const text = "t".repeat(longestText);
    assert.equal(bounds({ [name]: text }).dropped, 0);
    assert.equal(bounds({ [`${name}n`]: "x", a: `${text}t`, b: "ü".repeat(longestText / 2 + 1), c: "c" }).dropped, 3);
    const many = Object.fromEntries(Array.from({ length: mostValues + 7 }, (_, index) => [`a${index}`, index]));
    assert.equal(bounds(many).dropped, 7);
    const long = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, text]));
    const { report } = bounds(long);
    assert.ok(JSON.stringify(report.attributes).length <= mostTextBytes + 1000);
    assert.equal(report.attributes.unusableValues, 20 - Math.floor(mostTextBytes / (longestText + 2)));
  });

  it("is sound, whatever was given, and what was sound already stays", () => {
    const numbers = fc.oneof(
      fc.double(),
      fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 53, -(2 ** 60), 5e-324),
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string().map((text) => `${text}\ud800\0`),
    );
    const of = { number: numbers, boolean: fc.boolean(), string: texts };
    const readings = fc.record(
      Object.fromEntries(Object.entries(readingRows).map(([name, { kind }]) => [name, of[kind]])),
      { requiredKeys: [] },
    );
    const attributes = fc.dictionary(texts, fc.oneof(numbers, texts, fc.boolean()), { maxKeys: 8 });
    fc.assert(
      fc.property(readings, attributes, numbers, numbers, numbers, (some, others, speed, course, altitude) => {
        const { report } = soundOf({ ...fix, speed, course, altitude, readings: some, attributes: others });
        const values = [...Object.values(report.readings), ...Object.values(report.attributes)];
        for (const value of [...values, ...Object.keys(report.attributes), report.speed ?? 0, report.altitude ?? 0])
          if (typeof value === "number")
            assert.ok(Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Object.is(value, -0), `${value}`);
          else if (typeof value === "string") assert.ok(isSoundText(value), JSON.stringify(value));
        assert.equal(
          soundReport(report, () => assert.fail("sound already")),
          report,
        );
      }),
    );
  });
});
