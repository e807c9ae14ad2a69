import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, fixOf, put, raise, readingsOrNothing, reportedTime, within } from "./report.ts";

test("a number goes to its reading; one out of its range, or that comes second, to the manual's name", () => {
  const report = draft();
  put(report, "battery", 87, "voltageLevel");
  put(report, "battery", 80, "chargeLevel");
  put(report, "temperature", -274, "temp1");
  put(report, "rpm", undefined, "engineSpeed");
  put(report, "hdop", Number.NaN, "dilution");
  put(report, "odometer", Number.POSITIVE_INFINITY, "mileage");
  put(report, "temperature2", -0, "temp2");
  assert.deepEqual(report.readings, { battery: 87, temperature2: 0 });
  assert.deepEqual(report.attributes, { chargeLevel: 80, temp1: -274 });
});

test("a number of the position is given within its limits; what else a field has is kept", () => {
  const report = draft();
  assert.deepEqual(
    ["90", "361", "north", "", undefined].map((text, index) => within(report, text, 0, 360, `course${index}`)),
    [90, undefined, undefined, undefined, undefined],
  );
  assert.deepEqual(report.attributes, { course1: 361, course2: "north" });
});

test("a time that no calendar has is 0, and kept as it was sent", () => {
  const report = draft();
  assert.equal(reportedTime(report, "260203101530"), Date.UTC(2026, 1, 3, 10, 15, 30));
  assert.equal(reportedTime(report, "26020310153"), undefined);
  assert.deepEqual(report.attributes, {});
  assert.equal(reportedTime(report, "260230101530"), 0);
  assert.deepEqual(report.attributes, { reportedDate: "260230", reportedTime: "101530" });
});

test("an alarm is raised once", () => {
  const report = draft();
  raise(report, "sos");
  raise(report, "sos");
  assert.deepEqual(report.alarms, ["sos"]);
});

test("a position without a date is kept as an attribute; an empty report holds nothing to store", () => {
  const place = { valid: true, latitude: 4.6064112, longitude: -74.1156704, speed: 12, course: 361 };
  assert.deepEqual(fixOf({ ...place, time: 1000 }, draft()), {
    type: "fix",
    time: 1000,
    valid: true,
    latitude: 4.6064112,
    longitude: -74.1156704,
    alarms: [],
    readings: {},
    attributes: {},
    speed: 12,
  });
  assert.deepEqual(fixOf({ ...place, time: undefined }, draft()), {
    type: "readings",
    alarms: [],
    readings: {},
    attributes: { undatedPosition: "4.6064112,-74.1156704" },
  });
  assert.deepEqual(readingsOrNothing(draft(), "heartbeat"), { type: "ignored", reason: "heartbeat" });
});
