import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyProblems } from "./body-problems.ts";

const of = (text: string) => bodyProblems(JSON.parse(text), text);

test("names that reach for prototypes are refused, and it is said which and where", () => {
  assert.deepEqual(of('{"a":[{"__proto__":1}]}'), ["body/a/0/__proto__: no field may have this name"]);
  assert.deepEqual(of('{"\\u005f_proto__":{"__proto__":{}}}'), [
    "body/__proto__: no field may have this name",
    "body/__proto__/__proto__: no field may have this name",
  ]);
  assert.deepEqual(of('{"tags":{"constructor":{"prototype":null}}}'), [
    "body/tags/constructor: must not hold a field named prototype",
  ]);
  for (const text of ['{"constructor":"x"}', '["__proto__","constructor"]', '{"prototype":{"constructor":null}}', "1"])
    assert.deepEqual(of(text), [], text);
});

test("hostile bodies cost little: nested deeply, with long names, with many problems", () => {
  const depth = 200_000;
  const deep = of(`${"[".repeat(depth)}{"__proto__":1}${"]".repeat(depth)}`);
  assert.equal(deep.length, 1);
  assert.ok(JSON.stringify(deep).length < 300);
  assert.equal(of(`[${'{"__proto__":1},'.repeat(1000)}0]`).length, 20);
  assert.equal(
    of(`{"${"x".repeat(500_000)}":{"__proto__":1}}`)[0]?.length,
    200 + "body…: no field may have this name".length,
  );
});

test("what has no refused name passes, however it is written", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes("__proto__") && !text.includes("constructor"));
      assert.deepEqual(of(text), []);
    }),
  );
});
