import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstArrival, type LocationRecord, noTotals } from "../model/location.ts";
import { stepOf } from "./step.ts";
import { Steps, StepTotals } from "./steps.ts";
import { advance } from "./totals.ts";

/** Moves of metres and of hundreds of kilometres, times that stand still and gaps of a year. */
const move = fc.record({
  elapsed: fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.constantFrom(0, 3_600_000, 4e10)),
  valid: fc.integer({ min: 0, max: 4 }).map((choice) => choice > 0),
  latitude: fc
    .oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 9_000_000 }))
    .map((at) => 48 + at / 1e5),
  longitude: fc.integer({ min: 0, max: 100 }).map((at) => 11 + at / 1e5),
  speed: fc.constantFrom(undefined, 0, 2, 5, 50),
  extras: fc.constantFrom(
    '"attributes":{',
    '"inputs":[true,false],"attributes":{',
    '"inputs":[false,true,true,true],"attributes":{"ignition":"false"',
  ),
});

test("each record's step gives the totals of the fold, whatever the device did", () => {
  fc.assert(
    fc.property(fc.array(move, { minLength: 1, maxLength: 60 }), (moves) => {
      const steps = new Steps();
      const added = new StepTotals();
      let time = Date.UTC(2026, 5, 1);
      let before: LocationRecord | undefined;
      for (const [index, { elapsed, speed, ...said }] of moves.entries()) {
        time += elapsed;
        const place = { time, arrival: firstArrival + index, hash: index, receivedAt: time };
        const record = { ...said, ...(speed !== undefined && { speed }), ...place, totals: noTotals };
        const totals = advance(before?.totals ?? noTotals, before?.time, stepOf(record));
        const step = steps.next({ ...record, totals });
        assert.equal(step === undefined, before === undefined);
        if (before === undefined || step === undefined) added.set(totals);
        else added.add(before.time, step);
        assert.deepEqual(added.totals, totals);
        before = { ...record, totals };
      }
    }),
    { numRuns: 500 },
  );
});
