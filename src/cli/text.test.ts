import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pairs, plain, table } from "./text.ts";

test("nothing that came from elsewhere can move a terminal's cursor", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) =>
      assert.doesNotMatch(plain(text), /\p{Cc}/u),
    ),
  );
  assert.equal(plain("a\u001b[2Jb\n"), "a?[2Jb?");
});

test("columns of a table line up", () => {
  assert.equal(
    table(
      ["ID", "NAME"],
      [
        ["1", "one"],
        ["1000", "thousand"],
      ],
    ),
    "ID    NAME\n1     one\n1000  thousand\n",
  );
  assert.equal(pairs({ plate: "A", fleet: "north" }), "plate=A; fleet=north");
});
