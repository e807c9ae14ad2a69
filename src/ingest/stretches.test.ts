import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Draft } from "./draft.ts";
import { startsApart } from "./stretches.ts";

/** Records are a second apart, and those up to this time are known. */
const [msEach, known] = [1000, 19_000];

function draftsAt(seconds: readonly number[]): readonly Draft[] {
  return seconds.map((second) => ({ time: second * 1000 }) as Draft);
}

test("drafts that lie close to each other have one piece of the history, those far apart a stretch each", () => {
  assert.deepEqual(startsApart(msEach, known, draftsAt([20, 21, 22, 40, 60])), []);
  assert.deepEqual(startsApart(msEach, known, draftsAt([100, 101, 104, 500, 900])), [100_000, 500_000, 900_000]);
  assert.deepEqual(startsApart(msEach, known, []), []);
  assert.deepEqual(startsApart(0, 0, draftsAt([5])), [5000]);
});

test("stretches begin at drafts, in the order of time, and less is read for them than all that lies between", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 20, max: 100_000 }), { maxLength: 200 }), (seconds) => {
      const drafts = draftsAt(seconds.toSorted((one, other) => one - other));
      const starts = startsApart(msEach, known, drafts);
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
