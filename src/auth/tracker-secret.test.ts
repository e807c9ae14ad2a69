import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemIds } from "../observe/index.ts";
import { hashTrackerSecret, matchesTrackerSecret } from "./tracker-secret.ts";

test("a hash fits its own secret alone, holds nothing of it, and differs each time", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4 }), fc.string(), (secret, other) => {
      const hash = hashTrackerSecret(secret, systemIds);
      assert.ok(matchesTrackerSecret(secret, hash));
      assert.equal(matchesTrackerSecret(other, hash), secret === other);
      assert.notEqual(hashTrackerSecret(secret, systemIds), hash);
    }),
  );
  assert.equal(matchesTrackerSecret("", ""), false);
});
