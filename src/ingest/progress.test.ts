import assert from "node:assert/strict";
import { test } from "node:test";
import { Progress } from "./progress.ts";

function world() {
  const clock = { time: 1000, now: () => clock.time, monotonic: () => clock.time };
  return { clock, progress: new Progress(clock) };
}

test("nothing is stalled while nothing waits, however long", () => {
  const { clock, progress } = world();
  progress.begun();
  progress.appended();
  progress.idle();
  clock.time += 3_600_000;
  progress.check();
  progress.begun();
  progress.check();
});

test("a slow disk is none that stands still; five seconds without an append are", () => {
  const { clock, progress } = world();
  for (let appends = 0; appends < 10; appends++) {
    progress.begun();
    clock.time += 4900;
    progress.check();
    progress.appended();
  }
  clock.time += 5100;
  assert.throws(() => progress.check(), /nothing was appended for 5 s/);
  progress.appended();
  progress.check();
});
