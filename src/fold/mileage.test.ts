import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { distanceKm } from "../geo/distance.ts";
import { freshRecordOf } from "../ingest/fresh-record.ts";
import type { Fix } from "../model/effects.ts";
import { noTotals, type Totals } from "../model/location.ts";
import { stepOf } from "./step.ts";
import { advance } from "./totals.ts";

const start = Date.UTC(2026, 5, 1, 8, 0, 17);
/** Metres of a degree of latitude. */
const degree = 111_195.08;
const origin = { latitude: 48.137, longitude: 11.575 };

/** A place in metres east and north of the origin. */
interface Place {
  readonly east: number;
  readonly north: number;
}

function fixAt(time: number, { east, north }: Place, more: Partial<Fix> = {}): Fix {
  return {
    type: "fix",
    time,
    valid: true,
    latitude: origin.latitude + north / degree,
    longitude: origin.longitude + east / (degree * Math.cos((origin.latitude * Math.PI) / 180)),
    alarms: [],
    readings: {},
    attributes: {},
    ...more,
  };
}

function fold(fixes: readonly Fix[]): Totals {
  let totals = noTotals;
  let before: number | undefined;
  for (const fix of fixes) {
    const time = fix.time ?? 0;
    totals = advance(totals, before, stepOf(freshRecordOf(fix, time, time, false)));
    before = time;
  }
  return totals;
}

const metres = (fixes: readonly Fix[]) => fold(fixes).odometerMm / 1000;

/** Numbers in [-1, 1) that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
}

const square = (side: number) => (way: number) => {
  const along = way % (4 * side);
  if (along < side) return { east: along, north: 0 };
  if (along < 2 * side) return { east: side, north: along - side };
  if (along < 3 * side) return { east: 3 * side - along, north: side };
  return { east: 0, north: 4 * side - along };
};
const circle = (radius: number) => (way: number) => ({
  east: radius * Math.sin(way / radius),
  north: radius * (1 - Math.cos(way / radius)),
});
const line = (way: number) => ({ east: way, north: 0 });

/** A drive of some length along a road, with a fix every so many seconds. */
function drive(
  road: (way: number) => Place,
  {
    length,
    kmh,
    every,
    more = {},
    noise = 0,
  }: { length: number; kmh: number; every: number; more?: Partial<Fix>; noise?: number },
): readonly Fix[] {
  const off = seeded(7);
  const speed = kmh / 3.6;
  return Array.from({ length: Math.round(length / speed / every) + 1 }, (_, index) => {
    const place = road(index * every * speed);
    const noisy = { east: place.east + noise * off(), north: place.north + noise * off() };
    return fixAt(start + index * every * 1000, noisy, more);
  });
}

describe("mileage of a parked vehicle", () => {
  const known: Readonly<Record<string, (random: () => number) => Partial<Fix>>> = {
    "that reports no speed": () => ({}),
    "that reports that it stands": () => ({ speed: 0 }),
    "that reports a little speed": (random) => ({ speed: Math.abs(random()) * 2.9 }),
    "with a speed that is noise, too": (random) => ({ speed: Math.abs(random()) * 9 }),
    "with its ignition off": (random) => ({ speed: Math.abs(random()) * 20, readings: { ignition: false } }),
  };
  for (const [name, more] of Object.entries(known))
    for (const every of [1, 5, 10, 30, 60, 300])
      it(`${name}, every ${every} s, is none`, () => {
        const random = seeded(every);
        const fixes = Array.from({ length: Math.ceil(7200 / every) }, (_, index) =>
          fixAt(start + index * every * 1000, { east: 3 * random(), north: 3 * random() }, more(random)),
        );
        assert.equal(metres(fixes), 0);
      });

  it("is what it drove, where it parks after that", () => {
    const way = drive(line, { length: 3000, kmh: 40, every: 1, more: { speed: 40 } });
    const random = seeded(3);
    const parked = Array.from({ length: 7200 }, (_, index) =>
      fixAt(start + (way.length + index) * 1000, { east: 3000 + 3 * random(), north: 3 * random() }, { speed: 0 }),
    );
    assert.ok(Math.abs(metres([...way, ...parked]) - 3000) < 30, `${metres([...way, ...parked])}`);
  });
});

describe("mileage of a drive", () => {
  const roads = { "a straight road": line, "blocks of 100 m": square(100), "a bend of 60 m": circle(60) };
  for (const [road, place] of Object.entries(roads))
    for (const [who, kmh] of [
      ["a walker", 5],
      ["a roller", 2],
      ["a tractor", 9],
      ["a bus", 30],
      ["a car", 100],
    ] as const)
      for (const every of [1, 2, 10])
        for (const [how, more] of [
          ["without speed", {}],
          ["with speed", { speed: kmh }],
        ] as const)
          it(`of ${who} ${how} on ${road}, every ${every} s, is its length`, () => {
            const fixes = drive(place, { length: 4000, kmh, every, more });
            // What lies between two fixes nobody knows: their chords are the road.
            const between = fixes.slice(1).map((fix, index) => chord(fixes[index], fix));
            const chords = between.reduce((sum, one) => sum + one, 0);
            const got = metres(fixes);
            assert.ok(Math.abs(got / chords - 1) < 0.01, `${got} of ${chords} m`);
          });

  it("is its length with noise of 3 m, too", () => {
    for (const [kmh, every] of [
      [5, 1],
      [5, 10],
      [30, 5],
      [50, 1],
      [100, 1],
    ] as const)
      for (const more of [{}, { speed: kmh }]) {
        const got = metres(drive(line, { length: 10_000, kmh, every, more, noise: 3 }));
        assert.ok(Math.abs(got / 10_000 - 1) < 0.02, `${kmh} km/h every ${every} s: ${got} m`);
      }
  });

  it("of a slow vehicle that reports no speed counts from 20 m in two minutes on", () => {
    const got = metres(drive(line, { length: 500, kmh: 1, every: 1 }));
    assert.ok(Math.abs(got / 500 - 1) < 0.02, `${got} m`);
  });
});

/** Metres between two fixes, on the plane. */
function chord(one: Fix | undefined, other: Fix): number {
  assert.ok(one);
  const north = (other.latitude - one.latitude) * degree;
  const east = (other.longitude - one.longitude) * degree * Math.cos((origin.latitude * Math.PI) / 180);
  return Math.hypot(north, east);
}

describe("a clock that was not set", () => {
  const year2000 = [Date.UTC(2000, 0, 1, 0, 0, 5), Date.UTC(2000, 0, 6), Date.UTC(2001, 0, 1), Date.UTC(2004, 0, 1)];
  it("makes no mileage, nor does the way from there to the present", () => {
    for (const reset of year2000) {
      const lost = [fixAt(reset, { east: 0, north: 0 }), fixAt(reset + 3_600_000, { east: 30_000, north: 0 })];
      assert.equal(metres([...lost, fixAt(start, { east: 900_000, north: 0 })]), 0);
      const way = drive(line, { length: 1000, kmh: 50, every: 10, more: { speed: 50 } });
      assert.equal(metres([...lost, ...way]), metres(way));
    }
  });

  it("makes no input times and no inactivity", () => {
    const lost = fixAt(Date.UTC(2000, 0, 1), { east: 0, north: 0 }, { speed: 0, readings: { input1: true } });
    const totals = fold([lost, fixAt(start, { east: 0, north: 0 }, { speed: 0 })]);
    assert.deepEqual(totals.sensorMs, [0, 0, 0, 0]);
    assert.equal(totals.movedAt, start);
  });

  it("of a year that could be right makes none over more than a year", () => {
    assert.equal(
      metres([fixAt(Date.UTC(2019, 3, 7), { east: 0, north: 0 }), fixAt(start, { east: 9000, north: 0 })]),
      0,
    );
  });
});

/** Where no tracker is that has a fix. */
const nowhere = { latitude: 0, longitude: 0 };
/** Each fix, and in place of every so many of them a bad one. */
const withBad = (fixes: readonly Fix[], every: number, bad: (fix: Fix, index: number) => Fix) =>
  fixes.map((fix, index) => (index % every === every - 1 ? bad(fix, index) : fix));

describe("mileage where some fixes are bad", () => {
  const way = drive(line, { length: 33_030, kmh: 39.636, every: 10, more: { speed: 40 } });

  it("is that of the drive with one fix in twenty, in five, in two at 0,0", () => {
    assert.equal(Math.round(metres(way) / 10), 3303);
    for (const every of [20, 5, 2])
      for (const first of [[], [fixAt(start - 1000, { east: 0, north: 0 }, nowhere)]]) {
        const bad = [...first, ...withBad(way, every, (fix) => ({ ...fix, ...nowhere }))];
        assert.ok(Math.abs(metres(bad) - 33_030) < 1, `${metres(bad)} m`);
      }
  });

  it("is that of the drive after a night at rest that ends with 0,0", () => {
    const parked = fixAt(start - 86_400_000, { east: 0, north: 0 }, { speed: 0 });
    const woken = fixAt(start - 1000, { east: 0, north: 0 }, nowhere);
    assert.equal(metres([parked, woken, ...way]), metres([parked, ...way]));
  });

  it("is 11 km with a report a minute and every third one bad", () => {
    const minutes = drive(line, { length: 11_000, kmh: 30, every: 60, more: { speed: 30 } });
    const random = seeded(5);
    const bad = withBad(minutes, 3, ({ time = 0 }) =>
      fixAt(time, { east: 90_000 * (1.5 + random()), north: 90_000 * random() }),
    );
    assert.ok(Math.abs(metres(bad) - 11_000) < 1, `${metres(bad)}`);
  });

  it("is the real way, 4.4 km, where the tracker repeats an old place under a new time", () => {
    const real = drive(line, { length: 4400, kmh: 48, every: 30, more: { speed: 48 } });
    const old = { east: -30_000, north: 12_000 };
    const repeated = real.flatMap((fix) => [fix, fixAt((fix.time ?? 0) + 10_000, old, { speed: 48 })]);
    assert.ok(Math.abs(metres(repeated) - 4400) < 1, `${metres(repeated)}`);
  });

  it("goes on with what follows fixes that are worse than 1,000 m", () => {
    const vague = withBad(way, 4, (fix) => ({ ...fix, latitude: fix.latitude + 0.01, readings: { accuracy: 1500 } }));
    const good = way.filter((_, index) => index % 4 !== 3);
    assert.equal(metres(vague), metres(good));
  });

  it("goes on at once where a ferry, a plane or a silence ends far away", () => {
    const far = drive((at) => ({ east: 3_000_000 + at, north: 0 }), { length: 5000, kmh: 50, every: 10 });
    const later = far.map((fix) => ({ ...fix, time: (fix.time ?? 0) + 2_000_000 }));
    assert.ok(Math.abs(metres([...way, ...later]) - metres(way) - 5000) < 1);
  });

  it("is that of the credible fixes alone, each way between two jumps for itself", () => {
    const fix = fc.record({
      seconds: fc.constantFrom(1, 10, 60, 130, 3600),
      east: fc.oneof(fc.nat(3000), fc.nat(300_000)),
      bad: fc.constantFrom("", "", "", "", "nowhere", "vague", "not valid"),
      speed: fc.constantFrom(undefined, 0, 50, 200),
    });
    fc.assert(
      fc.property(fc.array(fix, { maxLength: 40 }), (some) => {
        let time = start;
        const fixes = some.map(({ seconds, east, bad, speed }) => {
          time += seconds * 1000;
          return fixAt(
            time,
            { east, north: 0 },
            {
              valid: bad !== "not valid",
              ...(speed !== undefined && { speed }),
              ...(bad === "nowhere" && nowhere),
              ...(bad === "vague" && { readings: { accuracy: 1001 } }),
            },
          );
        });
        const ways = credibleWays(fixes);
        assert.equal(
          fold(fixes).odometerMm,
          ways.reduce((sum, one) => sum + fold(one).odometerMm, 0),
        );
        const last = ways.at(-1)?.at(-1);
        assert.equal(fold(fixes).anchor?.time, last?.time);
      }),
      { numRuns: 2000 },
    );
  });
});

/** What the page on alerts says of credible positions, asked of the whole list: the ways between jumps. */
function credibleWays(fixes: readonly Fix[]): readonly (readonly Fix[])[] {
  const usable = fixes.filter(
    ({ valid, latitude, readings }) => valid && latitude !== 0 && (readings.accuracy ?? 0) <= 1000,
  );
  const ways: Fix[][] = [];
  let last: Fix | undefined;
  for (const [index, fix] of usable.entries()) {
    const next = usable[index + 1];
    const way = ways.at(-1);
    if (last === undefined || way === undefined) ways.push([fix]);
    else if (isNext(last, fix)) way.push(fix);
    else if (next !== undefined && isNext(fix, next) && !(isNext(last, next) && km(last, next) <= km(fix, next)))
      ways.push([fix]);
    else continue;
    last = fix;
  }
  return ways;
}

const km = (from: Fix, { latitude, longitude }: Fix) =>
  distanceKm(rounded(from.latitude), rounded(from.longitude), rounded(latitude), rounded(longitude));

const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7;

function isNext(from: Fix, to: Fix): boolean {
  const hours = ((to.time ?? 0) - (from.time ?? 0) + 2000) / 3_600_000;
  return km(from, to) <= 0.3 + Math.max(hours > 120 / 3600 ? 250 : 400, 2 * (to.speed ?? 0)) * hours;
}
