import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import { unknownFields, unknownParts, unknownTerms } from "./bodies.ts";

test("what warns of unknown fields has an end, however many they are and however long their names", () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}`, 1]));
  const long = { ["x".repeat(500_000)]: 1 };
  const schema = Type.Object({ part: Type.Object({}), list: Type.Array(Type.Object({})) });
  for (const body of [many, long])
    for (const warnings of [
      unknownFields(body, [], []),
      unknownTerms(body, {}),
      unknownParts({ part: body, list: Array.from({ length: 50 }, () => body) }, schema, "body"),
    ]) {
      assert.ok(warnings.length > 0 && warnings.length <= 21, `${warnings.length} warnings`);
      assert.ok(warnings.join("").length < 10_000, `${warnings.join("").length} characters`);
    }
  assert.equal(unknownFields(many, [], []).at(-1), "body: 49980 more fields are not known; ignored");
  assert.deepEqual(unknownFields({ a: 1, b: 2 }, ["a"], []), ["body/b: not a field that can be set; ignored"]);
});
