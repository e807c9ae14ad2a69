import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../errors/catalogue.ts";
import { systemIds } from "../observe/index.ts";
import { createPasswords, mostWaiting } from "./passwords.ts";

const accounts = { findSetting: async () => undefined, setting: async (_name: string, make: () => string) => make() };

test("so many passwords wait for their hash; one more is answered with 503 and when to try again, and those that wait are not disturbed", async () => {
  const passwords = createPasswords({ accounts, ids: systemIds, requireEncrypted: false });
  const outcomes = await Promise.all(
    Array.from({ length: mostWaiting + 3 }, (_, at) =>
      passwords.hash(`password ${at}`).then(
        () => "hashed",
        (error: unknown) => error,
      ),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome !== "hashed");
  assert.equal(refused.length, 2, "one is at work, the others wait");
  assert.deepEqual(outcomes.slice(-2), refused, "the last ones");
  for (const error of refused) {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.code, error.kind.status, error.retryAfter], ["unavailable", 503, 5]);
    assert.equal(error.details.length, 1);
  }
  assert.match(await passwords.hash("later"), /^\$argon2id\$/);
});
