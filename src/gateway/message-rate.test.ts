import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MessageRate } from "./message-rate.ts";

test("a burst passes, then the rate on average", () => {
  const rate = new MessageRate(10, 0);
  const takenAt = (tick: number) => {
    let taken = 0;
    for (; rate.allows(tick); taken++) rate.spend();
    return taken;
  };
  assert.deepEqual([takenAt(0), takenAt(0), takenAt(1), takenAt(3), takenAt(100)], [20, 0, 10, 20, 20]);
});

test("no more than the rate and two bursts ever passes, and some always does in time", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
      (perSecond, steps) => {
        const rate = new MessageRate(perSecond, 0);
        let tick = 0;
        let taken = 0;
        for (const step of steps) {
          tick += step;
          for (let wanted = 0; wanted < 3 * perSecond && rate.allows(tick); wanted++, taken++) rate.spend();
        }
        assert.ok(taken <= perSecond * (tick + 4));
        assert.ok(rate.allows(tick + 1));
      },
    ),
  );
});
