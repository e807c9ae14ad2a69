import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ListCursors } from "./list-cursors.ts";

const cursors = new ListCursors("a secret");
const scopes = fc.array(fc.oneof(fc.string(), fc.nat()), { maxLength: 3 });

test("a cursor leads back to its place, after a restart too, and says nothing of it", () => {
  fc.assert(
    fc.property(scopes, fc.string({ minLength: 1, unit: "grapheme" }), (scope, place) => {
      const text = cursors.write(scope, place);
      assert.equal(new ListCursors("a secret").read(scope, text), place);
      assert.match(text, /^[\w-]+$/);
    }),
  );
  assert.notEqual(cursors.write(["groups", 1], "17").slice(0, 8), cursors.write(["groups", 1], "18").slice(0, 8));
});

test("one of another list, of another service, or damaged is none", () => {
  const text = cursors.write(["groups", 1], "17");
  for (const scope of [["groups", 2], ["users", 1], ["groups", "1"], ["groups"], []])
    assert.equal(cursors.read(scope, text), undefined);
  assert.equal(new ListCursors("another").read(["groups", 1], text), undefined);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.nat(text.length - 1).map((at) => changed(text, at)),
      ),
      (given) => {
        assert.equal(cursors.read(["groups", 1], given), given === text ? "17" : undefined);
      },
    ),
  );
});

function changed(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}
