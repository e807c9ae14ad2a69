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
  progress.committed();
  progress.idle();
  clock.time += 3_600_000;
  progress.check();
  progress.begun();
  progress.check();
});

test("a slow disk is none that stands still; five seconds without a commit are", () => {
  const { clock, progress } = world();
  for (let commits = 0; commits < 10; commits++) {
    progress.begun();
    clock.time += 4900;
    progress.check();
    progress.committed();
  }
  clock.time += 5100;
  assert.throws(() => progress.check(), /nothing was committed for 5 s/);
  progress.committed();
  progress.check();
});

test("who finds out whose reports can't be stored does not stand still", () => {
  const { clock, progress } = world();
  progress.begun();
  for (let found = 0; found < 10; found++) {
    clock.time += 4900;
    progress.check();
    progress.setAside();
  }
  assert.ok(progress.nothingSinceAside);
  clock.time += 5100;
  assert.throws(() => progress.check(), /nothing was committed for 5 s/);
});
