import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LocationRecord } from "../model/location.ts";
import type { Draft } from "./draft.ts";
import { startsApart, startsOf } from "./stretches.ts";

/** What surrounds the first of some drafts: records a second apart from the time 0 on. */
const context = {
  from: Array.from({ length: 20 }, (_, second) => ({ time: second * 1000 }) as LocationRecord),
  more: true,
};

function draftsAt(seconds: readonly number[]): readonly Draft[] {
  return seconds.map((second) => ({ time: second * 1000 }) as Draft);
}

test("drafts that lie close to each other have one piece of the history, those far apart a stretch each", () => {
  assert.deepEqual(startsOf(context, draftsAt([20, 21, 22, 40, 60])), []);
  assert.deepEqual(startsOf(context, draftsAt([100, 101, 104, 500, 900])), [100_000, 500_000, 900_000]);
  assert.deepEqual(startsOf(context, []), []);
  assert.deepEqual(startsOf({ from: [], more: false }, draftsAt([5])), [5000]);
});

test("stretches begin at drafts, in the order of time, and less is read for them than all that lies between", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 20, max: 100_000 }), { maxLength: 200 }), (seconds) => {
      const drafts = draftsAt(seconds.toSorted((one, other) => one - other));
      const starts = startsOf(context, drafts);
      assert.ok(starts.length <= 32);
      starts.forEach((start, index) => {
        assert.ok(start > (starts[index - 1] ?? 0));
        assert.ok(drafts.some(({ time }) => time === start));
      });
      assert.ok(starts.length * 8 <= (starts.at(-1) ?? 0) / 1000 || starts.length === 0);
    }),
  );
});

test("drafts beside which nothing is known have their stretches, the first of them too", () => {
  assert.deepEqual(startsApart(1000, 100_000, draftsAt([100, 101, 500, 900])), [100_000, 500_000, 900_000]);
  assert.deepEqual(startsApart(1000, 100_000, draftsAt([100, 101, 104])), []);
  assert.deepEqual(startsApart(0, 5000, draftsAt([5, 6])), [5000, 6000]);
});
