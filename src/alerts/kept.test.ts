import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeKept, type Kept, keptOf, nothingKept, packedRows, rowsOf } from "./kept.ts";

/** With the prototype of object literals. */
const plain = { noNullPrototype: true };
const whole = fc.nat({ max: 2 ** 45 });
const point = fc.record(
  {
    time: whole,
    count: fc.nat(),
    level: fc.nat({ max: 3 }),
    packed: fc.json().map(packedRows),
    sums: fc.array(whole, { maxLength: 5 }),
  },
  plain,
);
const kept: fc.Arbitrary<Kept> = fc.record(
  {
    watching: fc.array(fc.record({ since: whole, prints: fc.array(fc.nat({ max: 2 ** 32 - 1 })) }, plain), {
      maxLength: 3,
    }),
    points: fc.array(point, { maxLength: 8 }),
    late: fc.option(fc.record({ from: whole, to: whole, commits: fc.nat(), count: fc.nat() }, plain), {
      nil: undefined,
    }),
  },
  plain,
);

function read(text: string): Kept {
  return keptOf(JSON.parse(`${text}}`));
}

test("decoding gives what was encoded of a device's rules", () => {
  fc.assert(fc.property(kept, (one) => assert.deepEqual(read(encodeKept(one)), one)));
});

test("unpacking gives the packed text of a point's states", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (rows) => assert.equal(rowsOf({ packed: packedRows(rows) }), rows)),
  );
});

test("a point with damaged states is left out", () => {
  const rows = JSON.stringify(
    Array.from({ length: 20 }, (_, at) => [at, at * 7919, 1, 1_790_000_000_000 + at, 0, 0, []]),
  );
  const whole = { time: 1, count: 64, level: 0, packed: packedRows(rows), sums: [] };
  for (const packed of ["", "A", whole.packed.slice(0, -4), `/${whole.packed.slice(1)}`])
    assert.deepEqual(read(encodeKept({ ...nothingKept, points: [{ ...whole, packed }, whole] })).points, [whole]);
  const bytes = Buffer.from(whole.packed, "base64");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    // Some bits have no meaning, such as those behind the last code.
    const found = rowsOf({ packed: damaged.toString("base64") });
    assert.ok(found === undefined || found === rows, `bit ${bit}`);
  }
});
