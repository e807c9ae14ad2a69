import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { firstArrival, type LocationRecord, noTotals, type Totals } from "../model/location.ts";
import { Increments, RunningTotals } from "./increments.ts";
import { stepOf } from "./step.ts";
import { advance, sameTotals } from "./totals.ts";

const start = Date.UTC(2026, 5, 1);

/** Numbers that no tracker sends, but that damaged memory may hold. */
const odd = fc.oneof(
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 1e-300, 90, 180),
);
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** Reports from metres to hundreds of kilometres apart. `numbers` may mix odd numbers into the usual ones. */
function moves(elapsed: fc.Arbitrary<number>, numbers: <T>(usual: fc.Arbitrary<T>) => fc.Arbitrary<T | number>) {
  const move = fc.record({
    elapsed: numbers(elapsed),
    valid: fc.integer({ min: 0, max: 4 }).map((choice) => choice > 0),
    isShownElsewhere: fc.integer({ min: 0, max: 9 }).map((choice) => choice === 0),
    unlocated: fc.integer({ min: 0, max: 9 }).map((choice) => choice === 0),
    latitude: numbers(fc.oneof(fc.nat(30), fc.nat(300), fc.nat(9_000_000)).map((at) => 48 + at / 1e5)),
    longitude: numbers(fc.nat(30).map((at) => 11 + at / 1e5)),
    speed: numbers(fc.constantFrom(undefined, 0, 2, 5, 50)),
    extras: fc.constantFrom(
      '"attributes":{',
      '"inputs":[true,false],"attributes":{',
      '"inputs":[false,true,true,true],"attributes":{"ignition":"false"',
      '"attributes":{"accuracy":"1500"',
    ),
  });
  return fc.array(move, { minLength: 1, maxLength: 60 }).map((some): readonly Unfolded[] => {
    let time = start;
    return some.map(({ elapsed: ms, speed, isShownElsewhere, unlocated, valid, ...said }, index) => {
      time += ms;
      const place = { time, arrival: firstArrival + index, hash: index, receivedAt: time };
      const fix = unlocated ? { valid: false, unlocated } : { valid, ...(speed !== undefined && { speed }) };
      return { ...said, ...place, ...fix, ...(isShownElsewhere && { positionTime: start }) };
    });
  });
}

type Unfolded = Omit<LocationRecord, "totals">;

const usual = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | number> => one;
const forwards = fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.constantFrom(0, 3_600_000, 4e10));
/** Also clocks that go back or were never set. */
const anywhere = fc.oneof(forwards, fc.constantFrom(-5000, -8e11, 8e11));

/** The records with the totals that the fold gives them. */
function folded(records: readonly Unfolded[]): readonly LocationRecord[] {
  let before: LocationRecord | undefined;
  return records.map((record) => {
    const totals = advance(before?.totals ?? noTotals, before?.time, stepOf(record));
    before = { ...record, totals };
    return before;
  });
}

/** Adds up the records' increments and returns how many records have none. `same` compares the running totals with each record's own. */
function walk(records: readonly LocationRecord[], same: (running: Totals, own: Totals) => void): number {
  const increments = new Increments();
  const running = new RunningTotals();
  let whole = 0;
  for (const [index, record] of records.entries()) {
    const increment = increments.next(record);
    const before = records[index - 1];
    if (increment === undefined || before === undefined) {
      running.set(record.totals);
      whole++;
    } else running.add(before.time, increment);
    same(running.totals, record.totals);
  }
  return whole;
}

describe("increments", () => {
  it("give the totals of the fold, and only the first record needs whole ones, whatever the device does", () => {
    fc.assert(
      fc.property(moves(forwards, usual), (some) => {
        assert.equal(
          walk(folded(some), (running, own) => assert.deepEqual(running, own)),
          1,
        );
      }),
      { numRuns: 500 },
    );
  });

  it("give the totals of the fold for clocks that go back or were never set, and for NaN and infinity", () => {
    fc.assert(
      fc.property(moves(anywhere, mostly), (some) => {
        walk(folded(some), (running, own) => assert.deepEqual(running, own));
      }),
      { numRuns: 1000 },
    );
  });

  it("give even totals that no fold made, but for the sign of a zero, or the record has no increment", () => {
    const position = fc.record({ time: odd, latitude: odd, longitude: odd }, { noNullPrototype: true });
    const totals: fc.Arbitrary<Totals> = fc
      .record({
        odometerMm: mostly(fc.nat(9)),
        sensorMs: fc.tuple(mostly(fc.nat(9)), fc.nat(9), fc.nat(9), fc.nat(9)),
        movedAt: mostly(fc.constantFrom(start, start + 1000)),
        inputsKnown: fc.nat(255),
        inputsActive: fc.nat(255),
        anchor: fc.option(position),
        doubted: fc.option(position),
        uncounted: fc.option(fc.record({ from: position, lengthMm: odd }, { noNullPrototype: true })),
        underway: fc.boolean(),
      })
      .map(({ anchor, doubted, uncounted, underway, ...sums }) => ({
        ...sums,
        ...(anchor && { anchor }),
        ...(doubted && { doubted }),
        ...(uncounted && { uncounted }),
        ...(underway && { underway }),
      }));
    fc.assert(
      fc.property(moves(anywhere, mostly), fc.array(totals, { minLength: 1 }), (some, others) => {
        const plain = folded(some);
        const records = plain.map((one, at) => ({ ...one, totals: others[at % (2 * others.length)] ?? one.totals }));
        walk(records, (running, own) => {
          if (!sameTotals(running, own)) assert.deepEqual(running, own);
        });
      }),
      { numRuns: 500 },
    );
  });
});
