import assert from "node:assert/strict";
import { test } from "node:test";
import { waybeam } from "../../test/support/command-line.ts";

test("a move needs a target", async () => {
  const { code, err } = await waybeam(["move-store"]);
  assert.equal(code, 2);
  assert.match(err, /--to <store>/);
});
