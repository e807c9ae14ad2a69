import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { BusEvent } from "../ports/bus.ts";
import { RateLimit } from "./rate-limit.ts";

test("so many requests in a minute that begins with the first one", () => {
  const limit = new RateLimit("user", 2, 10);
  assert.equal(limit.policy, '"user";q=2;w=60');
  const first = limit.take(1, 5000);
  assert.deepEqual(first, { allowed: true, remaining: 1, resetSeconds: 60 });
  assert.equal(limit.describe(first), '"user";r=1;t=60');
  assert.deepEqual(limit.take(1, 35_000), { allowed: true, remaining: 0, resetSeconds: 30 });
  assert.deepEqual(limit.take(1, 64_999), { allowed: false, remaining: 0, resetSeconds: 1 });
  assert.equal(limit.take(2, 64_999).allowed, true);
  assert.deepEqual(limit.take(1, 65_000), { allowed: true, remaining: 1, resetSeconds: 60 });
});

test("a minute has 1 to 60 seconds left, whatever the clock says", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 0, max: 60_000, noNaN: true, maxExcluded: true }),
      (began, passed) => {
        const limit = new RateLimit("user", 2, 10);
        assert.equal(limit.take(1, began).resetSeconds, 60);
        const { resetSeconds } = limit.take(1, began + passed);
        assert.ok(resetSeconds >= 1 && resetSeconds <= 60, `${resetSeconds} s`);
      },
    ),
  );
});

test("it remembers no more keys than its capacity: who asked longest ago begins anew", () => {
  const limit = new RateLimit("name", 1, 4);
  for (const key of ["a", "b", "c", "d"]) assert.equal(limit.take(key, 0).allowed, true);
  assert.equal(limit.take("d", 0).allowed, false);
  assert.equal(limit.take("e", 0).allowed, true);
  assert.equal(limit.take("d", 0).allowed, false);
  assert.equal(limit.take("a", 0).allowed, true);
});

test("limits of several processes count together what each let pass and what was taken back", () => {
  type Listener = (event: BusEvent, from?: string) => void;
  const listeners: Listener[] = [];
  let now = 0;
  const limits = ["a", "b"].map((name, own) => {
    const publish = (event: BusEvent) =>
      listeners.forEach((listener, index) => {
        listener(event, index === own ? undefined : name);
      });
    const subscribe = (listener: Listener) => {
      listeners[own] = listener;
      return () => {};
    };
    return new RateLimit("try", 3, 10, 1000, {
      bus: { publish, subscribe },
      clock: { monotonic: () => now },
      as: "tries",
    });
  });
  const [one, other] = limits;
  assert.ok(one && other);
  assert.deepEqual([one.take("k", now).remaining, other.take("k", now).remaining], [2, 1]);
  other.giveBack("k");
  assert.deepEqual([one.take("k", now).remaining, other.take("k", now).remaining], [1, 0]);
  // What is refused changes nothing for the others.
  for (let tries = 0; tries < 5; tries++) assert.equal(one.take("k", now).allowed, false);
  other.clear("k");
  assert.equal(other.take("k", now).remaining, 2);
  now = 1000;
  assert.deepEqual([one.take("k", now).remaining, other.take("k", now).remaining], [2, 1]);
});
