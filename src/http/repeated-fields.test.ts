import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { atOnce } from "../../test/support/at-once.ts";
import { colonsOf } from "./outline.ts";
import { hasRepeatedField } from "./repeated-fields.ts";

const repeated = (text: string) => atOnce(hasRepeatedField(colonsOf(text, 1000) ?? 0, JSON.parse(text)));

test("no JSON value written by a program has a repeated field, whatever its texts hold", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(repeated(JSON.stringify(value)), false)));
  assert.equal(repeated('{"a:b\\"":": {\\\\","c":[{"d":null},{"d":0},false,"" ]}'), false);
  fc.assert(
    fc.property(fc.array(fc.constantFrom("\\", '"', ":", "a"), { maxLength: 12 }), (parts) =>
      assert.equal(repeated(JSON.stringify({ [parts.join("")]: parts.join(""), list: [parts.join("")] })), false),
    ),
  );
  assert.equal(repeated('{"__proto__":1}'), false);
});

test("a field that stands twice is found at any depth, however it is written", () => {
  assert.equal(repeated('{"a":1,"a":1}'), true);
  assert.equal(repeated('[{"b":{"name":"x","n\\u0061me":"y"}}]'), true);
  assert.equal(repeated('{"a":{"x":1},"a":2}'), true);
});
