import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nestedDeeperThan } from "./nesting.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("the depth of any JSON text is seen, whatever its texts hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(value);
      assert.equal(nestedDeeperThan(text, depth), false);
      if (depth > 0) assert.equal(nestedDeeperThan(text, depth - 1), true);
    }),
  );
  assert.equal(nestedDeeperThan('{"[[[\\"{{{":"\\\\"}', 1), false);
});

test("what is no JSON is looked at to its end", () => {
  for (const text of ['"', '"\\', "]]]]", ""]) assert.equal(nestedDeeperThan(text, 1), false);
});
