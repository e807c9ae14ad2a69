import assert from "node:assert/strict";
import { test } from "node:test";
import { Throttle } from "./throttle.ts";

/** A throttle of an event loop with the load that the test says. */
class Bench {
  now = 1000;
  load = 0.4;
  readonly throttle = new Throttle({ clock: { monotonic: () => this.now }, busyLoad: () => this.load });

  /** Begins as many tries as may begin now, of `most`. */
  begin(most: number): number {
    for (let begun = 0; begun < most; begun++) {
      if (this.throttle.waitMs() > 0) return begun;
      this.throttle.began();
    }
    return most;
  }

  /** Begins what may begin, every `stepMs` for `ms`. Returns how many tries began, and the most that began together. */
  go(ms: number, stepMs: number): { readonly begun: number; readonly most: number } {
    let [begun, most] = [0, 0];
    for (const end = this.now + ms; this.now < end; ) {
      this.now += stepMs;
      const together = this.begin(1000);
      begun += together;
      most = Math.max(most, together);
    }
    return { begun, most };
  }
}

test("while the event loop is not busy all may begin", () => {
  const bench = new Bench();
  bench.load = 0;
  assert.equal(bench.begin(1000), 1000);
  bench.load = 0.4;
  assert.equal(bench.begin(1000), 4);
  bench.load = 0;
  assert.equal(bench.begin(1000), 1000);
});

test("while it is busy 200 begin a second, one at a time", () => {
  const bench = new Bench();
  bench.begin(1000);
  assert.equal(bench.throttle.waitMs(), 5);
  assert.deepEqual(bench.go(10_000, 1), { begun: 2000, most: 1 });
});

test("where its turns take longer than the gap, as many begin, a few together", () => {
  const bench = new Bench();
  bench.begin(1000);
  assert.deepEqual(bench.go(10_200, 12), { begun: 2040, most: 3 });
  // What was not used for a second is not kept.
  bench.now += 1000;
  assert.equal(bench.begin(1000), 4);
});

test("the more it is busy the fewer begin, and some always do", () => {
  const begunAt = (load: number) => {
    const bench = new Bench();
    bench.load = load;
    bench.begin(1000);
    return bench.go(10_000, 1).begun;
  };
  assert.equal(begunAt(0.5), 2000);
  assert.equal(begunAt(1), 500);
  const loads = Array.from({ length: 11 }, (_, tenth) => begunAt(0.5 + tenth / 20));
  assert.deepEqual(
    loads,
    loads.toSorted((one, other) => other - one),
  );
});
