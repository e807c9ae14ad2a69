import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countAbout } from "./count-about.ts";
import { DeviceChunks } from "./device-chunks.ts";

const someChunks = fc.array(fc.record({ first: fc.nat(50), span: fc.nat(30), count: fc.integer({ min: 1, max: 9 }) }), {
  maxLength: 40,
});

function placed(chunks: readonly { readonly first: number; readonly span: number; readonly count: number }[]) {
  const made = new DeviceChunks();
  chunks.forEach(({ first, span, count }, index) => {
    made.insert(index + 1, first, first + span, count, count);
  });
  return made;
}

test("a count has all chunks within the range, none outside, and no more than all of those that reach into it", () => {
  fc.assert(
    fc.property(someChunks, fc.nat(90), fc.nat(90), (chunks, one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const sum = (some: typeof chunks) => some.reduce((all, { count }) => all + count, 0);
      const reaching = chunks.filter(({ first, span }) => first <= to && first + span >= from);
      const within = reaching.filter(({ first, span }) => first >= from && first + span <= to);
      const count = countAbout(placed(chunks), from, to);
      assert.ok(count >= sum(within) && count <= sum(reaching), `${count}`);
    }),
  );
});

test("a count of a range that hundreds of chunks may reach into is not made", () => {
  const chunks = placed(Array.from({ length: 300 }, (_, index) => ({ first: index, span: 0, count: 1 })));
  assert.equal(countAbout(chunks, 0, 299), Number.POSITIVE_INFINITY);
  assert.equal(countAbout(chunks, 100, 199), 100);
});

test("a chunk that reaches over hundreds of others keeps none of the ranges behind it from being counted", () => {
  const long = placed([
    { first: 0, span: 1000, count: 7 },
    ...Array.from({ length: 600 }, (_, index) => ({ first: index, span: 0, count: 1 })),
  ]);
  assert.equal(countAbout(long, 100, 109), 11);
  // Far behind the beginning of the long one, its few records do not count.
  assert.equal(countAbout(long, 590, 599), 10);
  assert.equal(countAbout(long, 100, 599), Number.POSITIVE_INFINITY);
});
