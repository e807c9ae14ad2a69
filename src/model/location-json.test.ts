import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Report } from "./effects.ts";
import type { LocationRecord } from "./location.ts";
import { extrasOf, locationJson } from "./location-json.ts";
import { accessories, type ReadingName, readingRows } from "./readings.ts";

function record(report: Report, more: Partial<LocationRecord> = {}): LocationRecord {
  return {
    time: Date.UTC(2026, 0, 1),
    key: 1,
    receivedAt: Date.UTC(2026, 0, 1, 0, 0, 5),
    valid: true,
    latitude: 48.1,
    longitude: 11.5,
    extras: extrasOf(report),
    totals: {
      odometerMm: 12_345_600,
      sensorMs: [60_400, 0, 0, 0],
      movedAt: Date.UTC(2026, 0, 1) - 30_000,
      inputsKnown: 1,
      inputsActive: 1,
    },
    ...more,
  };
}

const values = {
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  string: fc.string(),
};
const readings = fc.record(
  Object.fromEntries(Object.entries(readingRows).map(([name, { kind }]) => [name, values[kind]])) as Record<
    ReadingName,
    fc.Arbitrary<unknown>
  >,
  { requiredKeys: [] },
);
const attributeNames = fc.oneof(
  fc.string(),
  fc.constantFrom(...Object.keys(readingRows), "alarms", "valid", "receivedAt"),
);
const attributes = fc.dictionary(attributeNames, fc.oneof(fc.string(), fc.integer(), fc.boolean()));

interface Parts {
  readonly accessoriesAttributes: readonly { readonly accessoryType: string; readonly accessoryStatus: string }[];
}

function statusOf({ accessoriesAttributes }: Parts, type: string): string | undefined {
  return accessoriesAttributes.find(({ accessoryType }) => accessoryType === type)?.accessoryStatus;
}

test("any report gives JSON in which nothing is lost", () => {
  fc.assert(
    fc.property(readings, attributes, (some, others) => {
      const report = {
        type: "fix",
        time: 0,
        valid: true,
        latitude: 0,
        longitude: 0,
        alarms: ["sos"],
        readings: some,
        attributes: others,
      } as Report;
      const location = JSON.parse(locationJson(record(report), 0));
      for (const [name, value] of Object.entries(some)) {
        const index = /^(in|out)put(\d)$/.exec(name);
        const accessory = accessories.get(name as ReadingName);
        if (index) assert.equal(location[`${index[1]}puts`][Number(index[2]) - 1], value);
        else if (accessory !== undefined)
          assert.equal(statusOf(location, accessory.type), value ? accessory.yes : accessory.no);
        else if (name in location)
          assert.ok(
            location[name] === value ||
              location[name] === Math.round(Number(value)) ||
              Object.is(Math.round(Number(value)), -0),
          );
        else assert.equal(location.attributes[name], String(value));
      }
      const names = Object.keys(location.attributes);
      for (const [name, value] of Object.entries(others)) {
        const shown = names.includes(`reported.${name}`) ? `reported.${name}` : name;
        assert.equal(location.attributes[shown], String(value));
      }
      const isExact = (name: string, value: unknown) => !(name in location) || location[name] !== Number(value) + 0;
      const asAttributes = Object.entries(some).filter(
        ([name, value]) =>
          !/^(in|out)put\d$/.test(name) && !accessories.has(name as ReadingName) && isExact(name, value),
      );
      assert.equal(names.length, asAttributes.length + Object.keys(others).length + 1, "no name stands twice");
      assert.equal(location.attributes.alarms, "sos");
    }),
  );
});

test("a location has the specification's fields, and those never reported are absent", () => {
  const report: Report = {
    type: "fix",
    time: 0,
    valid: true,
    latitude: 0,
    longitude: 0,
    altitude: 520,
    alarms: [],
    readings: { battery: 84.6, input2: true, ignition: true, externalVoltage: 12.5, doorOpen: true, blocked: false },
    attributes: { io11: 5 },
  };
  assert.deepEqual(JSON.parse(locationJson(record(report, { speed: 50, course: 90 }), 100)), {
    dateTime: "2026-01-01T00:00:00.000Z",
    latitude: 48.1,
    longitude: 11.5,
    speed: 50,
    course: 90,
    milleage: 112.346,
    inactiveSeconds: 30,
    sensorTime1: 60,
    alerts: [],
    alertTexts: [],
    warnings: [],
    warningTexts: [],
    hasCriticalAlert: false,
    battery: 85,
    inputs: [false, true],
    accessoriesAttributes: [
      { accessoryType: "door", accessoryStatus: "open" },
      { accessoryType: "immobilizer", accessoryStatus: "off" },
    ],
    attributes: { battery: "84.6", ignition: "true", externalVoltage: "12.5", io11: "5", altitude: "520" },
  });
});

test("a repeated position and a late arrival say so", () => {
  const report: Report = { type: "readings", alarms: [], readings: {}, attributes: {} };
  const made = record(report, { positionTime: Date.UTC(2025, 0, 1), receivedAt: Date.UTC(2026, 0, 2) });
  assert.deepEqual(JSON.parse(locationJson(made, 0)).attributes, {
    positionTime: "2025-01-01T00:00:00.000Z",
    receivedAt: "2026-01-02T00:00:00.000Z",
  });
});
