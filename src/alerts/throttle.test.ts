import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Throttle, throttled } from "./throttle.ts";

const minute = 60_000;

/** Minutes at which e-mails go, of those at which they would. */
function sent(minutes: readonly number[]): readonly number[] {
  let state: Throttle | undefined;
  return minutes.filter((at) => {
    const now = at * minute + 1;
    const { send, throttle } = throttled(state, now);
    state = throttle;
    return send;
  });
}

test("while it repeats, the interval is 2, 4, 8 ... minutes; after an interval without it, 2 again", () => {
  const each = Array.from({ length: 40 }, (_, minutes) => minutes);
  assert.deepEqual(sent(each), [0, 2, 6, 14, 30]);
  assert.deepEqual(sent([0, 1, 2, 3, 20, 21, 22]), [0, 2, 20, 22]);
});

test("a clock that was a day ahead and was set right holds nothing back", () => {
  assert.deepEqual(sent([1440, 1441, 0, 1, 2]), [1440, 0, 2]);
});

test("the interval grows to a day and no further", () => {
  const days = sent(Array.from({ length: 6 * 1440 }, (_, minutes) => minutes));
  const gaps = days.slice(1).map((at, index) => at - (days[index] ?? 0));
  assert.equal(Math.max(...gaps), 1440);
});

test("never two within 2 minutes, and what repeats sends fewer and fewer", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 200 }), (pauses) => {
      let at = 0;
      const asked: number[] = [];
      for (const pause of pauses) {
        at += pause;
        asked.push(at);
      }
      const times = sent(asked);
      for (const [index, time] of times.slice(1).entries()) assert.ok(time - (times[index] ?? 0) >= 2);
    }),
  );
});
