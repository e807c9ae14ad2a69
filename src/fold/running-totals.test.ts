import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { noTotals } from "../model/location.ts";
import { RunningTotals } from "./running-totals.ts";
import { advance, type Step } from "./totals.ts";

/** What no tracker sends, but damaged memory may: the two folds agree there too. */
const odd = fc.oneof(
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 1e-300, 90, 180),
);
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** Steps of metres and of hundreds of kilometres, of clocks that stand still, go back and were never set. */
const step: fc.Arbitrary<Omit<Step, "time"> & { readonly elapsed: number }> = fc.record({
  elapsed: mostly(fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.constantFrom(0, -5000, 3_600_000, 4e10, -8e11))),
  positioned: fc.integer({ min: 0, max: 4 }).map((choice) => choice > 0),
  latitude: mostly(
    fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 9_000_000 })).map((at) => 48 + at / 1e5),
  ),
  longitude: mostly(fc.integer({ min: 0, max: 100 }).map((at) => 11 + at / 1e5)),
  speed: mostly(fc.constantFrom(undefined, 0, 2, 5, 50)),
  ignitionOff: fc.boolean(),
  inputsReported: fc.integer({ min: 0, max: 15 }),
  inputsActive: fc.integer({ min: 0, max: 15 }),
});

test("many records in one go give the totals that one after the other gives", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const running = new RunningTotals();
      let time = Date.UTC(2026, 5, 1);
      let totals = advance(noTotals, undefined, { ...steps[0], time } as Step);
      running.set(totals);
      for (const { elapsed, ...rest } of steps.slice(1)) {
        const next = { ...rest, time: time + elapsed };
        totals = advance(totals, time, next);
        running.add(time, next);
        assert.deepEqual(running.totals, totals);
        ({ time } = next);
      }
    }),
    { numRuns: 500 },
  );
});
