import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { advance } from "../fold/totals.ts";
import type { Fix } from "../model/effects.ts";
import { noTotals, type Totals } from "../model/location.ts";
import { draftOf } from "./draft.ts";

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
    totals = advance(totals, before, draftOf(fix, time, time, false));
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
