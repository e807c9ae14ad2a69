import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { atOnce } from "../../test/support/at-once.ts";
import { bodyProblems } from "./body-problems.ts";

const of = (text: string) => atOnce(bodyProblems(JSON.parse(text), text));

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

test("texts that another program would cut or change are refused, names and values", () => {
  const half = "must not hold half of a surrogate pair";
  assert.deepEqual(of('{"name":"a\\u0000b","tags":{"k\\ud83d":"v","w":"\\udE9Ax"},"list":["","\\uD800\\ud800"]}'), [
    `body/tags/k\\ud83d: its name ${half}`,
    `body/tags/w: ${half}`,
    `body/list/1: ${half}`,
  ]);
  assert.deepEqual(of('"\\udc00"'), [`body: ${half}`]);
  assert.deepEqual(of('{"a/\\u0000\\udc00~":1}'), [`body/a~1\\u0000\\udc00~0: its name ${half}`]);
  for (const text of [
    '"\\ud83d\\ude9a"',
    '"🚚"',
    '"\\u0001"',
    '"\\u0000"',
    '"\\\\u0000"',
    '{"\\u00e9":"\\uDBFF\\uDFFF"}',
  ])
    assert.deepEqual(of(text), [], text);
});

test("hostile bodies cost little: nested deeply, with long names, with many problems", () => {
  const depth = 200_000;
  const deep = of(`${"[".repeat(depth)}{"__proto__":1}${"]".repeat(depth)}`);
  assert.equal(deep.length, 1);
  assert.ok(JSON.stringify(deep).length < 300);
  const many = of(`${'{"a":'.repeat(depth)}[${'"\\ud800",'.repeat(50_000)}1]${"}".repeat(depth)}`);
  assert.equal(many.length, 20);
  assert.ok(many.every((problem) => problem.startsWith("body/a/a/a") && problem.length < 300));
  assert.equal(of(`[${'{"__proto__":1},'.repeat(1000)}0]`).length, 20);
  const long = of(`{"${"🚚".repeat(100_000)}":{"__proto__":1}}`)[0] ?? "";
  assert.ok(long.length < 300 && long.isWellFormed());
});

/** What is refused, found the plain way. */
function refused(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, item]) => (!Array.isArray(value) && (name === "__proto__" || refused(name))) || refused(item),
  );
}

test("exactly what is refused has problems, and these can be sent as they are", () => {
  const unit = fc.oneof(fc.constantFrom("\0", "\ud83d", "\ude9a", "a", "/", "~"), fc.string({ unit: "binary" }));
  const texts = fc.array(unit, { maxLength: 4 }).map((units) => units.join(""));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.constantFrom(null, 1, true),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.oneof(texts, fc.constant("__proto__")), tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, (input) => {
      const text = JSON.stringify(input);
      const problems = of(text);
      assert.equal(problems.length > 0, refused(JSON.parse(text)));
      assert.ok(problems.every((problem) => problem.isWellFormed() && !problem.includes("\0")));
    }),
  );
});
