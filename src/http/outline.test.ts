import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { colonsOf } from "./outline.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function fieldsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, item) => sum + fieldsOf(item), own);
}

test("the fields and the depth of any JSON text are seen, whatever its texts hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(value);
      assert.equal(colonsOf(text, depth), fieldsOf(value));
      if (depth > 0) assert.equal(colonsOf(text, depth - 1), undefined);
    }),
  );
  assert.equal(colonsOf('{"[[[\\"{{{:":"\\\\"}', 1), 1);
});

/** The same, found the plain way: by what is left without the strings. */
function plainly(text: string, most: number): number | undefined {
  const bare = text.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, "");
  let depth = 0;
  for (const letter of bare) {
    if ("[{".includes(letter)) depth++;
    if ("]}".includes(letter)) depth--;
    if (depth > most) return undefined;
  }
  return bare.split(":").length - 1;
}

test("any text is looked at to its end, also one that is no JSON", () => {
  for (const text of ['"', '"\\', "]]]]", ""]) assert.equal(colonsOf(text, 1), 0);
  const letter = fc.constantFrom('"', "\\", "[", "]", "{", "}", ":", ",", "a", "\n", "ñ");
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 40 }), fc.nat(4), (letters, most) => {
      const text = letters.join("");
      assert.equal(colonsOf(text, most), plainly(text, most), text);
    }),
    { numRuns: 2000 },
  );
});
