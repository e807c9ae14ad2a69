import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { contentHash, type HashedContent } from "./content-hash.ts";

const content: fc.Arbitrary<HashedContent> = fc.record({
  valid: fc.boolean(),
  positioned: fc.constant(true),
  latitude: fc.integer({ min: -900_000_000, max: 900_000_000 }).map((value) => value / 1e7),
  longitude: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }).map((value) => value / 1e7),
  speed: fc.option(
    fc.integer({ min: 0, max: 20_000 }).map((value) => value / 100),
    { nil: undefined },
  ),
  course: fc.option(
    fc.integer({ min: 0, max: 35_999 }).map((value) => value / 100),
    { nil: undefined },
  ),
  extras: fc.string(),
});

test("the same content has the same hash, a safe integer of 52 bits", () => {
  fc.assert(
    fc.property(content, (made) => {
      const hash = contentHash(made);
      assert.equal(hash, contentHash({ ...made }));
      assert.ok(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 52);
    }),
  );
});

test("different contents have different hashes", () => {
  fc.assert(
    fc.property(content, content, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      assert.equal(contentHash(one) === contentHash(other), same);
    }),
    { numRuns: 5000 },
  );
});

test("one millionth of a degree, one flag and an absent speed make a difference", () => {
  const base: HashedContent = {
    valid: true,
    positioned: true,
    latitude: 1,
    longitude: 2,
    speed: 0,
    course: 0,
    extras: "",
  };
  const others: HashedContent[] = [
    { ...base, latitude: 1.0000001 },
    { ...base, longitude: 2.0000001 },
    { ...base, valid: false },
    { ...base, speed: undefined },
    { ...base, course: undefined },
    { ...base, positioned: false },
    { ...base, extras: "a" },
  ];
  const hashes = [base, ...others].map(contentHash);
  assert.equal(new Set(hashes).size, hashes.length);
});
