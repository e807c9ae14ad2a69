import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { userOf } from "../../test/support/users.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Ids } from "../ports/ids.ts";
import { makeApiKey, matchesApiKey } from "./api-key.ts";
import { allows, inactivity, type Permission } from "./permission.ts";
import { createTokens } from "./tokens.ts";

const key = "k".repeat(86);
const ids: Ids = { secret: (bytes) => "s".repeat(Math.ceil((bytes * 4) / 3)), uuid: () => "key-1" };

function tokensAt(start: number) {
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  return { clock, tokens: createTokens(key, 3600, clock) };
}

const start = Date.UTC(2026, 10, 21, 10, 29, 0, 500);

test("an API key matches its own hash and no other", () => {
  const made = makeApiKey(ids);
  assert.equal(matchesApiKey(made.secret, made.hash), true);
  assert.equal(matchesApiKey(`${made.secret}x`, made.hash), false);
  assert.equal(matchesApiKey(made.secret, null), false);
  assert.equal(matchesApiKey(made.secret, ""), false);
  assert.ok(!made.hash.includes(made.secret));
});

test("a token names its user and key until it ends, also where it is known already", () => {
  const { clock, tokens } = tokensAt(start);
  const { token, expires } = tokens.issue(7, "key-1");
  assert.equal(expires, Math.floor(start / 1000) * 1000 + 3_600_000);
  const session = { userKey: 7, apiKeyId: "key-1", expires };
  for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer"])
    assert.deepEqual(tokens.session(`${scheme} ${token}`), session);
  clock.time = expires - 1;
  assert.deepEqual(tokens.session(`Bearer ${token}`), session);
  clock.time = expires;
  assert.equal(tokens.session(`Bearer ${token}`), undefined);
  clock.time = start;
  assert.deepEqual(tokens.session(`Bearer ${token}`), session);
});

test("forged tokens, other algorithms and other headers give no session", () => {
  const { tokens } = tokensAt(start);
  const { token } = tokens.issue(7, "key-1");
  const [head = "", payload = "", signature = ""] = token.split(".");
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const hmac = (algorithm: string, text: string, secret = key) =>
    createHmac(algorithm, secret).update(text).digest("base64url");
  const claims = { sub: "7", key: "key-1", exp: Math.floor(start / 1000) + 60 };
  const signed = (header: object, body: object, secret = key) => {
    const text = `${part(header)}.${part(body)}`;
    return `${text}.${hmac("sha512", text, secret)}`;
  };
  assert.notEqual(tokens.session(`Bearer ${signed({ alg: "HS512", typ: "JWT" }, claims)}`), undefined);
  for (const header of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    token,
    `Basic ${token}`,
    `Bearer  ${token}`,
    `Bearer ${token} x`,
    `Bearer ${head}.${payload}`,
    `Bearer ${head}.${payload}.`,
    `Bearer ${head}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
    `Bearer ${part({ alg: "none", typ: "JWT" })}.${payload}.x`,
    `Bearer ${part({ alg: "HS256", typ: "JWT" })}.${payload}.${hmac("sha256", `${part({ alg: "HS256", typ: "JWT" })}.${payload}`)}`,
    `Bearer ${signed({ alg: "HS512", typ: "JWT" }, claims, "x".repeat(86))}`,
    `Bearer ${signed({ alg: "HS512", typ: "JWT" }, { ...claims, sub: "x" })}`,
    `Bearer ${signed({ alg: "HS512", typ: "JWT" }, { ...claims, sub: 7 })}`,
    `Bearer ${signed({ alg: "HS512", typ: "JWT" }, { sub: "7", key: "key-1" })}`,
    `Bearer ${signed({ alg: "HS512", typ: "JWT" }, { ...claims, exp: Math.floor(start / 1000) })}`,
    `Bearer ${"a".repeat(5000)}.b.c`,
  ])
    assert.equal(tokens.session(header), undefined, String(header));
});

test("any text as header gives no session", () => {
  const { tokens } = tokensAt(start);
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^Bearer [\w-]{1,40}\.[\w-]{1,40}\.[\w-]{1,40}$/));
  fc.assert(fc.property(texts, (text) => assert.equal(tokens.session(text), undefined)));
});

const user = userOf({ key: 7 });

test("what each permission asks", () => {
  const may = (permission: Permission, privileges: string[], accountKey = 1) =>
    allows(permission, { ...user, privileges, accountKey }, 1);
  const table: [Permission, string[], number, boolean][] = [
    ["public", [], 2, true],
    ["anyone", [], 2, true],
    ["see", [], 2, true],
    ["person", [], 2, true],
    ["write", [], 1, false],
    ["write", ["read", "sendCommands", "Write"], 1, false],
    ["write", ["write"], 2, true],
    ["write", ["admin"], 2, true],
    ["admin", ["write"], 1, false],
    ["admin", ["admin"], 2, true],
    ["service", ["write"], 1, false],
    ["service", ["admin"], 1, true],
    ["service", ["admin"], 2, false],
  ];
  for (const [permission, privileges, account, expected] of table)
    assert.equal(may(permission, privileges, account), expected, `${permission} ${privileges} ${account}`);
});

test("a user is inactive while disabled and outside from..expires", () => {
  const inactive = (fields: Partial<User>, now = 1000) => {
    const error = inactivity({ ...user, ...fields }, now);
    return error instanceof ApiError ? [error.code, ...error.details] : [];
  };
  assert.deepEqual(inactive({}), []);
  assert.deepEqual(inactive({ from: 1000, expires: 1001 }), []);
  assert.deepEqual(inactive({ from: 1001 }), ["userExpired"]);
  assert.deepEqual(inactive({ expires: 1000 }), ["userExpired"]);
  assert.deepEqual(inactive({ disabled: true }), ["userDisabled"]);
  assert.deepEqual(inactive({ disabled: true, disabledMessage: "unpaid", expires: 1 }), ["userDisabled", "unpaid"]);
});
