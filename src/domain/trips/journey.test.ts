import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Days } from "./days.ts";
import { Journey, type Segment } from "./journey.ts";
import type { Point } from "./point.ts";

const limits = { stopMs: 300_000, gapMs: 3_600_000, leastKm: 0.2 };
const begin = Date.UTC(2026, 0, 15, 8);

/** A point `minute` minutes after 8:00, `km` along a way north. */
function at(minute: number, km: number, moved: boolean, more: Partial<Point> = {}): Point {
  const place = { latitude: 4 + km / 111.2, longitude: -74, placed: true };
  return { time: begin + minute * 60_000, ...place, mileage: 100 + km, moved, ...more };
}

function segmentsOf(points: readonly Point[]): readonly Segment[] {
  const journey = new Journey(limits);
  return [...points.flatMap((point) => journey.add(point)), ...journey.end()];
}

/** `stop 0-10` · `trip 10-20 5km max 60`, in minutes after 8:00; `<` and `>`: open. */
function brief(segments: readonly Segment[]): readonly string[] {
  return segments.map((each) => {
    const minute = ({ time }: { time: number }) => (time - begin) / 60_000;
    const idle = each.idleMs === undefined ? "" : ` idle ${each.idleMs / 60_000}`;
    const way =
      each.type === "trip" ? ` ${each.distanceKm}km${each.maxSpeed === undefined ? "" : ` max ${each.maxSpeed}`}` : "";
    const span = `${each.openStart ? "<" : ""}${minute(each.start)}-${minute(each.end)}${each.openEnd ? ">" : ""}`;
    return `${each.type} ${span}${way}${idle}`;
  });
}

test("a drive between two stops; it begins where the device stood and ends where it last moved", () => {
  const points = [
    at(0, 0, false),
    at(9, 0, false),
    at(10, 0.5, true, { speed: 30 }),
    at(20, 8, true, { speed: 60 }),
    at(30, 16, true, { speed: 45 }),
    at(31, 16, false, { speed: 0 }),
    at(40, 16, false),
  ];
  const found = segmentsOf(points);
  assert.deepEqual(brief(found), ["stop <0-9", "trip 9-30 16km max 60", "stop 30-40>"]);
  assert.deepEqual(found[1]?.start, { time: begin + 9 * 60_000, latitude: 4, longitude: -74 });
});

test("a pause that is shorter than a stop belongs to the trip, with the time that the engine idled in it", () => {
  const on = { ignition: true };
  const points = [
    at(0, 0, false, { ignition: false }),
    at(1, 0, false, on),
    at(2, 1, true, on),
    at(3, 1, false, on),
    at(6, 1, false, on),
    at(7, 2, true, on),
    at(8, 2, false, on),
    at(13, 2, false, { ignition: false }),
  ];
  assert.deepEqual(brief(segmentsOf(points)), ["stop <0-1 idle 0", "trip 1-7 2km idle 4", "stop 7-13> idle 6"]);
});

test("a way that is too short for a trip belongs to the stop", () => {
  const points = [at(0, 0, false), at(1, 0.1, true), at(2, 0.1, false), at(10, 0.1, false), at(20, 0.1, false)];
  assert.deepEqual(brief(segmentsOf(points)), ["stop <0-20>"]);
});

test("a silence ends the trip; the way over it belongs to the next one, which begins when the device is heard again", () => {
  const points = [at(0, 0, true), at(10, 5, true), at(100, 40, true), at(110, 45, true)];
  assert.deepEqual(brief(segmentsOf(points)), ["trip <0-10 5km", "stop 10-100", "trip 100-110> 40km"]);
});

test("a tracker that sleeps while parked: the trip begins in place where it was parked, in time with its first report", () => {
  const points = [at(0, 0, false), at(600, 0.3, true), at(610, 5, true), at(620, 5, false)];
  const found = segmentsOf(points);
  assert.deepEqual(brief(found), ["stop <0-600", "trip 600-610 5km", "stop 610-620>"]);
  assert.equal(found[1]?.start.latitude, 4);
});

test("where the first positions are none, the stop is where the first good one says", () => {
  const nowhere = { latitude: 0, longitude: 0, placed: false };
  const found = segmentsOf([at(0, 0, true, nowhere), at(1, 0, false), at(20, 0, false)]);
  assert.deepEqual(brief(found), ["stop <0-20>"]);
  assert.equal(found[0]?.start.longitude, -74);
});

test("nothing was reported: no segments", () => {
  assert.deepEqual(segmentsOf([]), []);
  assert.equal(new Journey(limits).openSince, undefined);
});

const steps = fc.array(
  fc.record({
    minutes: fc.integer({ min: 1, max: 90 }),
    km: fc.constantFrom(0, 0.05, 1, 7),
    ignition: fc.option(fc.boolean(), { nil: undefined }),
  }),
  { maxLength: 60 },
);

function pointsOf(walk: readonly { minutes: number; km: number; ignition: boolean | undefined }[]): readonly Point[] {
  let minute = 0;
  let km = 0;
  return walk.map((step) => {
    minute += step.minutes;
    km += step.km;
    return at(minute, km, step.km > 0, step.ignition === undefined ? {} : { ignition: step.ignition });
  });
}

test("segments alternate, join without a gap, and lose no way but what is too short", () => {
  fc.assert(
    fc.property(steps, (walk) => {
      const points = pointsOf(walk);
      const found = segmentsOf(points);
      for (const [index, segment] of found.entries()) {
        assert.ok(segment.end.time >= segment.start.time);
        assert.ok((segment.idleMs ?? 0) <= segment.end.time - segment.start.time);
        const before = found[index - 1];
        if (before === undefined) continue;
        assert.notEqual(before.type, segment.type);
        assert.equal(before.end.time, segment.start.time);
      }
      const whole = (points.at(-1)?.mileage ?? 0) - (points[0]?.mileage ?? 0);
      const ways = found.reduce((sum, each) => sum + (each.type === "trip" ? each.distanceKm : 0), 0);
      assert.ok(ways <= whole + 1e-6, `${ways} of ${whole}`);
      if (walk.every(({ km }) => km !== 0.05)) assert.ok(ways > whole - 1e-6, `${ways} of ${whole}`);
    }),
  );
});

test("the days' distances are the way in all, and their trips' time that of the trips", () => {
  fc.assert(
    fc.property(steps, (walk) => {
      const points = pointsOf(walk);
      const days = new Days("America/Bogota", limits.gapMs, 0);
      const journey = new Journey(limits);
      const found: Segment[] = [];
      for (const point of points) {
        days.add(point);
        found.push(...journey.add(point));
      }
      found.push(...journey.end());
      for (const segment of found) days.addSegment(segment);
      const whole = (points.at(-1)?.mileage ?? 0) - (points[0]?.mileage ?? 0);
      const sum = days.all().reduce((total, { distanceKm }) => total + distanceKm, 0);
      assert.ok(Math.abs(sum - whole) < 1e-6);
      const trips = found.flatMap((each) => (each.type === "trip" ? [each.end.time - each.start.time] : []));
      const ms = days.all().reduce((total, { tripMs }) => total + tripMs, 0);
      assert.equal(
        ms,
        trips.reduce((total, each) => total + each, 0),
      );
      assert.equal(
        days.all().reduce((total, day) => total + day.trips, 0),
        trips.length,
      );
    }),
  );
});

test("a trip over midnight counts to both days, by the midnight of the zone", () => {
  // 23:50 to 0:20 in Bogota.
  const from = Date.UTC(2026, 0, 16, 4, 50);
  const drive = [0, 5, 10, 15, 20, 25, 30].map(
    (minute): Point => ({ ...at(0, minute, minute > 0), time: from + minute * 60_000 }),
  );
  const days = new Days("America/Bogota", limits.gapMs, 0);
  const journey = new Journey(limits);
  for (const point of drive) {
    days.add(point);
    for (const segment of journey.add(point)) days.addSegment(segment);
  }
  for (const segment of journey.end()) days.addSegment(segment);
  const brief = days.all().map(({ date, tripMs, trips, distanceKm }) => [date, tripMs / 60_000, trips, distanceKm]);
  assert.deepEqual(brief, [
    ["2026-01-15", 10, 1, 5],
    ["2026-01-16", 20, 0, 25],
  ]);
});
