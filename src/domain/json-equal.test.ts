import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { jsonEqual } from "./json-equal.ts";

test("equal as RFC 6902 has it", () => {
  const equal = ["0 -0", "1 1.0", "1e2 100", '{"a":1,"b":[]} {"b":[],"a":1}', "null null", "[1,2] [1,2]"];
  for (const pair of equal) {
    const [left = "", right = ""] = pair.split(" ");
    assert.ok(jsonEqual(JSON.parse(left), JSON.parse(right)), pair);
  }
  const different = [
    '1 "1"',
    "null false",
    "null {}",
    "[] {}",
    "[1,2] [2,1]",
    '{"a":1} {"a":1,"b":1}',
    '{"a":1} {"b":1}',
  ];
  for (const pair of [...different, '{} {"toString":null}', '["a"] {"0":"a"}']) {
    const [left = "", right = ""] = pair.split(" ");
    assert.equal(jsonEqual(JSON.parse(left), JSON.parse(right)), false, pair);
    assert.equal(jsonEqual(JSON.parse(right), JSON.parse(left)), false, pair);
  }
  assert.equal(jsonEqual(undefined, null), false);
});

test("any two values: as Node.js compares them, but for the sign of zero", () => {
  const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
  fc.assert(
    fc.property(json, json, (left, right) => {
      assert.equal(jsonEqual(left, structuredClone(left)), true);
      assert.equal(jsonEqual(left, right), isDeepStrictEqual(left, right));
    }),
  );
});

test("nested deeper than the stack", () => {
  const deep = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  assert.equal(jsonEqual(deep(200_000), deep(200_000)), true);
  assert.equal(jsonEqual(deep(200_000), deep(199_999)), false);
});
