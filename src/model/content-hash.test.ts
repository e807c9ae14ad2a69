import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Located } from "./content-hash.ts";
import type { Fix } from "./effects.ts";
import { ExtrasAndHash } from "./location-json.ts";
import { keyOf } from "./said.ts";

const written = new ExtrasAndHash();

/** As ingest makes it. */
function hashOf(report: Fix, located: Located | undefined): number {
  written.make(report, located);
  return written.hash;
}

const located: fc.Arbitrary<Located> = fc.record({
  valid: fc.boolean(),
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
});
const attributes = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 5 });
const content = fc.tuple(located, attributes, fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }));

function fix(others: Fix["attributes"], battery: number | undefined): Fix {
  const readings = battery === undefined ? {} : { battery };
  return { type: "fix", time: 0, valid: true, latitude: 0, longitude: 0, alarms: [], readings, attributes: others };
}

test("the same content has the same hash, a safe integer of 52 bits", () => {
  fc.assert(
    fc.property(content, ([at, others, battery]) => {
      const first = hashOf(fix(others, battery), at);
      assert.equal(hashOf(fix({ ...others }, battery), { ...at }), first);
      assert.ok(Number.isSafeInteger(first) && first >= 0 && first < 2 ** 52);
    }),
  );
});

test("different contents have different hashes", () => {
  fc.assert(
    fc.property(content, content, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      assert.equal(hashOf(fix(one[1], one[2]), one[0]) === hashOf(fix(other[1], other[2]), other[0]), same);
    }),
    { numRuns: 5000 },
  );
});

test("a centimetre, a flag, a unit of one reading, an absent speed make a difference", () => {
  const at: Located = { valid: true, latitude: 1, longitude: 2, speed: 0, course: 0 };
  const base = fix({ io1: 1 }, 50);
  const hashes = [
    hashOf(base, at),
    hashOf(base, { ...at, latitude: 1.0000001 }),
    hashOf(base, { ...at, longitude: 2.0000001 }),
    hashOf(base, { ...at, valid: false }),
    hashOf(base, { ...at, speed: undefined }),
    hashOf(base, { ...at, course: undefined }),
    hashOf(base, undefined),
    hashOf(fix({ io1: 1 }, 51), at),
    hashOf(fix({ io2: 1 }, 50), at),
    hashOf(fix({ io1: "1a" }, 50), at),
    hashOf({ ...base, alarms: ["sos"] }, at),
    hashOf({ ...base, altitude: 0 }, at),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test("neighbouring fixes of a drive never share a hash", () => {
  const seen = new Set<number>();
  for (let step = 0; step < 100_000; step++) {
    const at = { valid: true, latitude: 48 + step / 1e7, longitude: 11, speed: step % 2, course: 0 };
    seen.add(hashOf(fix({}, step % 100), at));
  }
  assert.equal(seen.size, 100_000);
});

test("a fix that comes again from the tracker's memory is the same fix, and says where it came from", () => {
  const at = { valid: true, latitude: 1, longitude: 2, speed: 0, course: 0 } as const;
  fc.assert(
    fc.property(attributes, fc.constantFrom<Fix["alarms"]>([], ["sos"]), ({ archive: _, ...others }, alarms) => {
      const live = hashOf({ ...fix(others, 50), alarms }, at);
      assert.equal(hashOf({ ...fix({ archive: true, ...others }, 50), alarms }, at), live);
      assert.equal(JSON.parse(`{${written.extras.slice(1)}}}`).attributes.archive, "true");
      assert.equal(keyOf({ time: 0, receivedAt: 0, ...at, extras: written.extras }), live);
    }),
  );
  assert.notEqual(hashOf(fix({ archive: false }, 50), at), hashOf(fix({}, 50), at));
  assert.notEqual(hashOf(fix({ archived: "true" }, 50), at), hashOf(fix({}, 50), at));
});
