import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { distanceKm } from "../geo/distance.ts";
import { cities, Town } from "./road.ts";
import { topSpeed, turnBetween, Vehicle } from "./vehicle.ts";

const anyVehicle = fc.record({ city: fc.constantFrom(...cities), seed: fc.string({ maxLength: 8 }) });
type Where = { city: (typeof cities)[number]; seed: string };

function drive({ city, seed }: Where, seconds: number, interval: number) {
  const vehicle = new Vehicle(new Town(city, seed), seed);
  const reports = [vehicle.report(0)];
  for (let time = interval; time <= seconds; time += interval) {
    vehicle.advance(interval);
    reports.push(vehicle.report(time * 1000));
  }
  return reports;
}

test("a vehicle never jumps: no stretch is longer than its top speed allows, and it stays in its town", () => {
  fc.assert(
    fc.property(anyVehicle, fc.constantFrom(0.5, 1, 7, 30), (where, interval) => {
      const reports = drive(where, 900, interval);
      for (const [index, report] of reports.entries()) {
        const before = reports[index - 1] ?? report;
        const km = distanceKm(before.latitude, before.longitude, report.latitude, report.longitude);
        assert.ok(km <= (topSpeed / 3600) * interval * 1.01 + 1e-9, `${km} km in ${interval} s`);
        assert.ok(report.speed >= 0 && report.speed <= topSpeed + 1e-9);
        assert.ok(distanceKm(where.city.latitude, where.city.longitude, report.latitude, report.longitude) < 9);
      }
    }),
    { numRuns: 60 },
  );
});

test("speed changes no faster than a car brakes, and a parked car with its ignition off does not move", () => {
  fc.assert(
    fc.property(anyVehicle, (where) => {
      const reports = drive(where, 1800, 1);
      for (const [index, report] of reports.entries()) {
        const before = reports[index - 1] ?? report;
        assert.ok(Math.abs(report.speed - before.speed) <= 30, `${before.speed} to ${report.speed} km/h in 1 s`);
        if (report.ignition) continue;
        assert.equal(report.speed, 0);
        if (!before.ignition) assert.equal(report.latitude, before.latitude);
      }
    }),
    { numRuns: 30 },
  );
});

test("the course is the direction of travel", () => {
  fc.assert(
    fc.property(anyVehicle, (where) => {
      const reports = drive(where, 600, 0.5);
      for (const [index, report] of reports.entries()) {
        const before = reports[index - 1] ?? report;
        assert.ok(report.course >= 0 && report.course < 360);
        // Around a bend or a junction the two courses differ, and the straight line between two reports has neither.
        if (report.speed < 5 || before.course !== report.course) continue;
        const north = report.latitude - before.latitude;
        const east = (report.longitude - before.longitude) * Math.cos((where.city.latitude * Math.PI) / 180);
        const travelled = ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360;
        assert.ok(turnBetween(travelled, report.course) < 1, `${travelled} against ${report.course}`);
      }
    }),
    { numRuns: 30 },
  );
});

test("the same seed gives the same life, another seed another", () => {
  fc.assert(
    fc.property(anyVehicle, (where) => assert.deepEqual(drive(where, 300, 5), drive(where, 300, 5))),
    { numRuns: 20 },
  );
  const [madrid] = cities;
  assert.ok(madrid);
  assert.notDeepEqual(drive({ city: madrid, seed: "a" }, 60, 5), drive({ city: madrid, seed: "b" }, 60, 5));
});

test("vehicles drive, stop at junctions, and park: in two hours all of it happens", () => {
  const [city] = cities;
  assert.ok(city);
  const reports = drive({ city, seed: "two hours" }, 7200, 1);
  assert.ok(reports.some(({ speed }) => speed > 45));
  assert.ok(reports.some(({ ignition, speed }) => ignition && speed === 0));
  assert.ok(reports.some(({ ignition }) => !ignition));
  assert.ok(reports.filter(({ ignition }) => ignition).length > 2000);
});
