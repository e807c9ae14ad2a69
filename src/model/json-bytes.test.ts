import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { JsonText, longestNumber, pieceOf, writeNumber } from "./json-bytes.ts";

function written(value: number): string {
  const bytes = Buffer.alloc(longestNumber + 2, "#");
  const end = writeNumber(bytes, 1, value);
  assert.ok(end <= 1 + longestNumber);
  assert.equal(bytes[end], "#".charCodeAt(0), "nothing is written beyond the end");
  return bytes.toString("latin1", 1, end);
}

describe("a number", () => {
  const decimals = fc
    .tuple(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), fc.integer({ min: 0, max: 9 }))
    .map(([value, places]) => value / 10 ** places);

  it("is written as String prints it", () => {
    const numbers = fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger(), decimals);
    fc.assert(
      fc.property(numbers, (value) => assert.equal(written(value), String(value))),
      { numRuns: 3000 },
    );
  });

  it("is so where its form changes", () => {
    const edges = [0, -0, 1e-6, 1e-7, 9.999999e-7, 0.1, 199.9999999, 200, 200.1, 1e21, 2 ** 31 - 1, 2 ** 31, 2 ** 53];
    for (const edge of [...edges, 1_999_999.999, 2_000_000.001, 0.30000000000000004, Number.MIN_VALUE, 1.7e308])
      for (const value of [edge, -edge, edge + Number.EPSILON]) assert.equal(written(value), String(value));
  });
});

describe("a text", () => {
  it("holds what was put in, as JSON does, whatever its size, and is empty when it is taken", () => {
    const text = new JsonText();
    const parts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme", maxLength: 40_000 })));
    fc.assert(
      fc.property(parts, (strings) => {
        text.piece(pieceOf("["));
        strings.forEach((string, index) => {
          if (index > 0) text.piece(pieceOf(","));
          text.string(string);
        });
        text.piece(pieceOf("]"));
        assert.equal(text.take(), JSON.stringify(strings));
        assert.ok(text.empty);
      }),
    );
  });

  it("goes on with another one's", () => {
    const one = new JsonText();
    const other = new JsonText();
    one.string("é".repeat(10_000));
    other.string("ü".repeat(10_000));
    one.append(other, 1);
    assert.equal(one.take(), `"${"é".repeat(10_000)}"${"ü".repeat(10_000)}"`);
  });
});
