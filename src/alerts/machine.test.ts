import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Calm,
  type Course,
  courseAfter,
  end,
  flash,
  idle,
  is,
  isNot,
  moveOf,
  raise,
  readyAt,
  type Truth,
  wasBetween,
} from "./machine.ts";

const calms: fc.Arbitrary<Calm> = fc.record({
  holdMs: fc.constantFrom(0, 5, 20),
  cooldownMs: fc.constantFrom(0, 7, 50),
});
const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.constantFrom<Truth>(isNot, is, wasBetween)), {
  maxLength: 60,
});

interface Made {
  readonly time: number;
  readonly truth: Truth;
  readonly move: number;
}

function play(calm: Calm, list: readonly (readonly [number, Truth])[]): readonly Made[] {
  let course: Course = { phase: idle, since: 0, firedAt: 0 };
  let time = 1000;
  return list.map(([after, truth]) => {
    time += after;
    const move = moveOf(course, truth, time, calm);
    course = courseAfter(course, move, time);
    return { time, truth, move };
  });
}

test("it is never raised twice without being over in between, and never over without having been raised", () => {
  fc.assert(
    fc.property(calms, steps, (calm, list) => {
      let stands = false;
      for (const { move } of play(calm, list)) {
        if (move === raise || move === flash) {
          assert.equal(stands, false);
          stands = move === raise;
        } else if (move === end) {
          assert.equal(stands, true);
          stands = false;
        }
      }
    }),
  );
});

test("it is raised only after it has been true without a break for as long as it must hold", () => {
  fc.assert(
    fc.property(calms, steps, (calm, list) => {
      let since: number | undefined;
      for (const { time, truth, move } of play(calm, list)) {
        since = truth === is ? (since ?? time) : undefined;
        if (move === raise) assert.ok(since !== undefined && time - since >= calm.holdMs);
        if (move === flash) assert.equal(calm.holdMs, 0);
      }
    }),
  );
});

test("between two raisings lies the cooldown, and what is true and ready stands raised", () => {
  fc.assert(
    fc.property(calms, steps, (calm, list) => {
      let firedAt: number | undefined;
      let since: number | undefined;
      let stands = false;
      for (const { time, truth, move } of play(calm, list)) {
        const fires = move === raise || move === flash;
        if (fires && firedAt !== undefined) assert.ok(time - firedAt >= calm.cooldownMs);
        since = truth === is ? (since ?? time) : undefined;
        if (move === raise) stands = true;
        if (move === end) stands = false;
        if (since !== undefined && !stands) assert.ok(time < readyAt(since, firedAt ?? 0, calm));
        if (fires) firedAt = time;
      }
    }),
  );
});

test("truth that ends is over at once", () => {
  fc.assert(
    fc.property(calms, steps, (calm, list) => {
      let stands = false;
      for (const { truth, move } of play(calm, list)) {
        if (stands && truth !== is) assert.equal(move, end);
        if (move === raise) stands = true;
        if (move === end) stands = false;
      }
    }),
  );
});
