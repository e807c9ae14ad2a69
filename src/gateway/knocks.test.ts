import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Knocks } from "./knocks.ts";

test("an address gets its attempts at once and back over the minute; what was right counts for nothing", () => {
  const knocks = new Knocks(60);
  for (let count = 0; count < 60; count++) assert.ok(knocks.take("192.0.2.1", 0));
  assert.equal(knocks.take("192.0.2.1", 0), false);
  knocks.giveBack("192.0.2.1", 0);
  assert.ok(knocks.take("192.0.2.1", 0));
  assert.equal(knocks.take("192.0.2.1", 0), false);
  for (let count = 0; count < 10; count++) assert.ok(knocks.take("192.0.2.1", 10));
  assert.equal(knocks.take("192.0.2.1", 10), false);
  assert.ok(knocks.take("192.0.2.2", 10));
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
        if (!knocks.take(address, tick)) continue;
        if (right) knocks.giveBack(address, tick);
        else wrong.push(tick);
        assert.ok(wrong.filter((time) => time > tick - 60).length <= 2 * perMinute);
      }
    }),
  );
});

test("a flood of addresses makes older ones begin anew, and takes no more memory than 10,000 of them", () => {
  const knocks = new Knocks(1);
  for (let index = 0; index < 30_000; index++)
    assert.ok(knocks.take(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, 0));
  assert.equal(knocks.take("10.0.117.47", 0), false);
  assert.ok(knocks.take("10.0.0.0", 0));
});
