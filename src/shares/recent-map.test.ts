import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecentMap } from "./recent-map.ts";

test("it never holds more than its capacity, and always what was used last", () => {
  const half = fc.integer({ min: 1, max: 6 });
  fc.assert(
    fc.property(half, fc.array(fc.record({ key: fc.nat(20), reads: fc.boolean() })), (kept, steps) => {
      const map = new RecentMap<number, number>(kept * 2);
      let used: { readonly key: number; readonly value: number }[] = [];
      for (const [value, { key, reads }] of steps.entries()) {
        const before = used.find((one) => one.key === key);
        const found = reads ? map.get(key) : undefined;
        if (found === undefined) map.set(key, value);
        else assert.equal(found, before?.value);
        if (reads && used.slice(0, kept).some((one) => one.key === key)) assert.notEqual(found, undefined);
        used = [{ key, value: found ?? value }, ...used.filter((one) => one !== before)];
        assert.ok(map.size <= kept * 2);
      }
    }),
  );
});

test("what is deleted is gone in both generations", () => {
  const map = new RecentMap<string, number>(4);
  map.set("a", 1);
  map.age();
  assert.equal(map.get("a"), 1);
  map.delete("a");
  assert.equal(map.get("a"), undefined);
  map.set("b", 2);
  map.age();
  map.age();
  assert.equal(map.get("b"), undefined);
});
