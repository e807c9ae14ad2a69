import assert from "node:assert/strict";
import { test } from "node:test";
import { Throttle } from "./throttle.ts";

/** A throttle by a clock and a load that the test sets. */
class Bench {
  now = 1000;
  load = 0;
  /** How often the load was measured. */
  asked = 0;
  readonly throttle: Throttle;

  constructor() {
    const load = () => {
      this.asked++;
      return this.load;
    };
    this.throttle = new Throttle({ clock: { monotonic: () => this.now }, load });
  }

  /** Begins as many tries as may begin now, of `most`. */
  begin(most: number): number {
    for (let begun = 0; begun < most; begun++) {
      if (this.throttle.waitMs() > 0) return begun;
      this.throttle.began();
    }
    return most;
  }

  /** Looks every `stepMs` for so long, and gives how many tries began, and the most together. */
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
  bench.load = 0.29;
  assert.equal(bench.begin(1000), 1000);
  bench.now += 250;
  assert.equal(bench.begin(1000), 1000);
});

test("while it is busy 200 begin a second, one at a time", () => {
  const bench = new Bench();
  bench.load = 1;
  bench.begin(1000);
  bench.now += 250;
  assert.equal(bench.begin(1000), 1);
  assert.equal(bench.throttle.waitMs(), 5);
  assert.deepEqual(bench.go(10_000, 1), { begun: 2000, most: 1 });
});

test("where its turns take longer than the gap, as many begin, a few together", () => {
  const bench = new Bench();
  bench.load = 1;
  bench.go(250, 250);
  assert.deepEqual(bench.go(10_200, 12), { begun: 2040, most: 3 });
  // What was not used for a second is not kept.
  bench.now += 1000;
  assert.equal(bench.begin(1000), 4);
});

test("the load is measured each quarter of a second, however many begin", () => {
  const bench = new Bench();
  bench.load = 1;
  bench.go(10_000, 1);
  assert.equal(bench.asked, 40);
});

test("it is busy until the load is well below what made it busy: throttled tries are a part of it", () => {
  const bench = new Bench();
  bench.load = 0.31;
  bench.go(250, 250);
  bench.load = 0.2;
  assert.equal(bench.go(1000, 5).begun, 200);
  bench.load = 0.14;
  bench.now += 250;
  assert.equal(bench.begin(1000), 1000);
  bench.load = 0.2;
  bench.now += 250;
  assert.equal(bench.begin(1000), 1000);
});
