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

test("who comes with a known browser waits its turn, also where strangers have taken all places", async () => {
  const { each, waiting } = waitingPasswords;
  const passwords = createPasswords({ accounts, ids: systemIds, requireEncrypted: false });
  const hash = await passwords.hash("right", 1);
  const order: string[] = [];
  const tried = async (who: string, password: string, known: boolean) => {
    const matches = await passwords.matches(password, hash, who, known).catch(() => "refused");
    order.push(`${who} ${matches}`);
  };
  const strangers = Array.from({ length: waiting + 1 }, (_, at) =>
    tried(`stranger ${Math.floor(at / each)}`, "x", false),
  );
  await Promise.all([...strangers, tried("stranger", "right", false), tried("person", "right", true)]);
  assert.equal(order[0], "stranger refused");
  assert.ok(order.indexOf("person true") < 10, "owners take turns");
});
