import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Knocks } from "./knocks.ts";

/** Wrong attempts, one after the other, until no further one is allowed. */
function exhaust(knocks: Knocks, address: string, tick: number): number {
  let count = 0;
  for (; knocks.allows(address, tick); count++) knocks.wrong(address, tick);
  return count;
}

test("an address gets its attempts at once and back over the minute; only what was wrong counts", () => {
  const knocks = new Knocks(60);
  for (let count = 0; count < 1000; count++) assert.ok(knocks.allows("192.0.2.1", 0));
  assert.equal(exhaust(knocks, "192.0.2.1", 0), 60);
  assert.equal(exhaust(knocks, "192.0.2.1", 10), 10);
  assert.equal(exhaust(knocks, "192.0.2.1", 10_000), 60);
  assert.ok(knocks.allows("192.0.2.2", 10));
});

test("attempts that were under way together cost a minute more at most, and leave room for a device that was there before", () => {
  const knocks = new Knocks(60);
  exhaust(knocks, "192.0.2.1", 0);
  assert.ok(knocks.allowsKnown("192.0.2.1", 0));
  for (let count = 0; count < 10_000; count++) knocks.wrong("192.0.2.1", 0);
  assert.ok(!knocks.allowsKnown("192.0.2.1", 0) && knocks.allowsKnown("192.0.2.1", 1));
  assert.ok(!knocks.allows("192.0.2.1", 60) && knocks.allows("192.0.2.1", 61));
});

test("in no minute more than twice the limit is wrong, whoever of a /64 asks and whenever", () => {
  const attempt = fc.record({ wait: fc.nat(20), host: fc.integer({ min: 1, max: 9 }), right: fc.boolean() });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 400 }), fc.integer({ min: 1, max: 20 }), (attempts, perMinute) => {
      const knocks = new Knocks(perMinute);
      const wrong: number[] = [];
      let tick = 0;
      for (const { wait, host, right } of attempts) {
        tick += wait > 15 ? wait : 0;
        const address = `2001:db8::${host}`;
        if (!knocks.allows(address, tick) || right) continue;
        knocks.wrong(address, tick);
        wrong.push(tick);
        assert.ok(wrong.filter((time) => time > tick - 60).length <= 2 * perMinute);
      }
    }),
  );
});

test("a flood of addresses makes older ones begin anew, and the newest are counted", () => {
  const knocks = new Knocks(1);
  for (let index = 0; index < 30_000; index++)
    assert.equal(exhaust(knocks, `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, 0), 1);
  assert.equal(knocks.allows("10.0.117.47", 0), false);
  assert.ok(knocks.allows("10.0.0.0", 0));
});
