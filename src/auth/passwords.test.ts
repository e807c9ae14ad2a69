import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../errors/catalogue.ts";
import { systemIds } from "../observe/index.ts";
import { createPasswords, waitingPasswords } from "./passwords.ts";

const accounts = { findSetting: async () => undefined, setting: async (_name: string, make: () => string) => make() };

/** Sets so many passwords of each account at once; gives what became of each. */
function setAtOnce(counts: readonly number[]) {
  const passwords = createPasswords({ accounts, ids: systemIds, requireEncrypted: false });
  const outcomes = counts.flatMap((count, accountKey) =>
    Array.from({ length: count }, (_, at) =>
      passwords.hash(`password ${at}`, accountKey).then(
        () => "hashed",
        (error: unknown) => {
          assert.ok(error instanceof ApiError);
          assert.deepEqual([error.retryAfter, error.details.length], [5, 1]);
          return error.code;
        },
      ),
    ),
  );
  return Promise.all(outcomes);
}

test("an account has its share of the places; one password more is answered with 429, and another account's is hashed", async () => {
  const { each } = waitingPasswords;
  const outcomes = await setAtOnce([each + 3, 1]);
  // One is at work.
  const expected = [...Array<string>(each + 1).fill("hashed"), "tooManyRequests", "tooManyRequests", "hashed"];
  assert.deepEqual(outcomes, expected);
});

test("passwords of all accounts have an end too: 503, and those that wait are not disturbed", async () => {
  const { each, waiting } = waitingPasswords;
  const full = Array.from({ length: waiting / each }, () => each);
  const outcomes = await setAtOnce([1, ...full, 1]);
  assert.deepEqual(outcomes, [...Array<string>(waiting + 1).fill("hashed"), "unavailable"]);
});
