import fc from "fast-check";
import type { Day, DeviceHead, FoldPoint } from "../../../src/model/follow.ts";
import { noTotals, type Totals, type TotalsSums } from "../../../src/model/location.ts";
import { someSaid, start } from "../positions/said.ts";

const dayMs = 86_400_000;
/** The day that tests count from. */
export const firstDay = Math.floor(start / dayMs);

/** A head of a device that never reported. */
export const emptyHead: DeviceHead = {
  sumsBefore: { odometerMm: 0, sensorMs: [0, 0, 0, 0] },
  late: [],
};

/** A day with a way and a time with input 1 on. */
export function day(behind: number, odometerMm: number, changes: Partial<Day> = {}): Day {
  const begin = (firstDay + behind) * dayMs;
  const totals = { ...noTotals, odometerMm, sensorMs: [odometerMm * 2, 0, 0, odometerMm * 5] as const };
  return {
    day: firstDay + behind,
    before: { time: undefined, totals: noTotals, records: 0 },
    points: [],
    end: { time: begin + 3_600_000, totals, records: 3 },
    ...changes,
  };
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const whole = fc.nat();
const someTime = fc.integer({ min: -1e12, max: 4e12 });
const someText = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.nat(40_000).map((length) => "states ".repeat(length)) },
);
const someAnchor = fc.record({ time: someTime, latitude: finite, longitude: finite }, { noNullPrototype: true });

const someSums: fc.Arbitrary<TotalsSums> = fc.record(
  { odometerMm: fc.nat(2 ** 31 - 1), sensorMs: fc.tuple(whole, whole, whole, whole) },
  { noNullPrototype: true },
);

const someTotals: fc.Arbitrary<Totals> = fc
  .tuple(
    someSums,
    fc.record(
      {
        movedAt: someTime,
        inputsKnown: fc.nat(15),
        inputsActive: fc.nat(15),
        anchor: someAnchor,
        doubted: someAnchor,
        uncounted: fc.record({ from: someAnchor, lengthMm: whole }, { noNullPrototype: true }),
        underway: fc.constant(true as const),
      },
      { requiredKeys: ["movedAt", "inputsKnown", "inputsActive"], noNullPrototype: true },
    ),
  )
  .map(([sums, rest]) => ({ ...sums, ...rest }));

const somePoint: fc.Arbitrary<FoldPoint> = fc
  .record(
    { time: fc.option(someTime, { nil: undefined }), totals: someTotals, records: fc.nat(1e6), rules: someText },
    { requiredKeys: ["time", "totals", "records"], noNullPrototype: true },
  )
  .map(({ time, ...point }) => ({ time, ...point }));

/** Any day of a few. */
export const someDay: fc.Arbitrary<Day> = fc.record(
  {
    day: fc.integer({ min: firstDay - 10, max: firstDay + 10 }),
    before: somePoint,
    points: fc.array(somePoint, { maxLength: 3 }),
    end: somePoint,
  },
  { noNullPrototype: true },
);

const someFound = fc.record(
  {
    alerts: fc.array(fc.record({ name: someText, text: someText, critical: fc.boolean() }, { noNullPrototype: true }), {
      maxLength: 3,
    }),
  },
  { noNullPrototype: true },
);

/** Any head. */
export const someHead: fc.Arbitrary<DeviceHead> = fc
  .record(
    {
      newest: someSaid,
      located: someSaid.filter(({ unlocated }) => !unlocated),
      isSame: fc.boolean(),
      found: someFound,
      today: someDay,
      sumsBefore: someSums,
      late: fc.array(fc.record({ day: whole, from: someTime, to: someTime }, { noNullPrototype: true }), {
        maxLength: 4,
      }),
      rules: someText,
      keptFrom: someTime,
    },
    { requiredKeys: ["sumsBefore", "late", "isSame"], noNullPrototype: true },
  )
  .map(({ isSame, ...head }) => (isSame && head.newest ? { ...head, located: head.newest } : head));
