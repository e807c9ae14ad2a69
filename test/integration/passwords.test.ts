import assert from "node:assert/strict";
import { argon2Sync } from "node:crypto";
import { after, before, test } from "node:test";
import { CompactEncrypt, generateKeyPair, importJWK } from "jose";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
before(async () => {
  rest = await startRest();
  token = await rest.ownerToken();
});
after(() => endRest(rest));

const fields = { name: "A", email: "a@example.com", country: "CO", timeZone: "America/Bogota" };

/** Whether a PHC string is the argon2id hash of a password. */
function isHashOf(stored: string | null | undefined, password: string): boolean {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored ?? "");
  assert.ok(match, String(stored));
  const [, memory, passes, parallelism, salt = "", hash = ""] = match;
  const expected = Buffer.from(hash, "base64");
  const found = argon2Sync("argon2id", {
    message: password,
    nonce: Buffer.from(salt, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return found.equals(expected);
}

async function publishedKey(of: Rest) {
  const { keys } = (await of.call("GET", "/.well-known/jwks.json")).json;
  assert.deepEqual([keys.length, keys[0].alg, keys[0].use, keys[0].d], [1, "RSA-OAEP-256", "enc", undefined]);
  return keys[0];
}

async function encrypted(text: string, jwk: { kid: string }, header = {}): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: jwk.kid, ...header })
    .encrypt(await importJWK(jwk, "RSA-OAEP-256"));
}

test("kept as an argon2id hash, never shown, and kept by a PUT that leaves it out or sends null", async () => {
  const made = await rest.call("POST", "/api/users", { token, body: { ...fields, password: "correct horse" } });
  assert.equal(made.json.password, null);
  const hash = async () => (await rest.store.users.find(made.json.id))?.passwordHash;
  const first = await hash();
  assert.ok(isHashOf(first, "correct horse"));
  const path = `/api/users/${made.json.id}`;
  for (const body of [fields, { ...fields, password: null }])
    assert.equal((await rest.call("PUT", path, { token, body })).json.password, null);
  await rest.call("PATCH", path, { token, body: [{ op: "replace", path: "/name", value: "B" }] });
  assert.equal(await hash(), first);
  const patch = [{ op: "add", path: "/password", value: "another" }];
  assert.equal((await rest.call("PATCH", path, { token, body: patch })).json.password, null);
  assert.ok(isHashOf(await hash(), "another"));
  assert.ok(!(await rest.call("GET", "/api/users", { token })).body.includes("argon2"));
});

test("a JWE for the published key is decrypted first; one that can't be is refused", async () => {
  const key = await publishedKey(rest);
  const user = await rest.call("POST", "/api/users", { token, body: { ...fields, email: "jwe@example.com" } });
  const path = `/api/users/${user.json.id}`;
  const put = (password: string) =>
    rest.call("PUT", path, { token, body: { ...fields, email: "jwe@example.com", password } });
  const stored = async () => (await rest.store.users.find(user.json.id))?.passwordHash;
  assert.equal((await put(await encrypted("pâsswörd", key))).status, 200);
  assert.ok(isHashOf(await stored(), "pâsswörd"));
  const jwe = await encrypted("x", key);
  const tampered = `${jwe.slice(0, -2)}${jwe.endsWith("AA") ? "BB" : "AA"}`;
  for (const password of [tampered, await encrypted("", key)]) {
    const refused = await put(password);
    assert.deepEqual([refused.status, refused.json.error], [400, "invalid input"]);
  }
  assert.ok(isHashOf(await stored(), "pâsswörd"));
});

test("whatever is a JWE and can't be decrypted is refused and says why: it is never the password itself", async () => {
  const key = await publishedKey(rest);
  const email = "forms@example.com";
  const post = (password: string) => rest.call("POST", "/api/users", { token, body: { ...fields, email, password } });
  const { publicKey } = await generateKeyPair("RSA-OAEP-256");
  const foreign = await new CompactEncrypt(Buffer.from("x"))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM" })
    .encrypt(publicKey);
  const oaep = await new CompactEncrypt(Buffer.from("x"))
    .setProtectedHeader({ alg: "RSA-OAEP", enc: "A256GCM" })
    .encrypt(await importJWK({ ...key, alg: "RSA-OAEP" }, "RSA-OAEP"));
  const compressed = Buffer.from('{"alg":"RSA-OAEP-256","enc":"A256GCM","zip":"DEF"}').toString("base64url");
  const direct = Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString("base64url");
  const cases = [
    [await encrypted("x", key, { enc: "A256CBC-HS512" }), /RSA-OAEP-256 and A256GCM/],
    [await encrypted("x", key, { kid: "another" }), /kid/],
    [foreign, /can't be decrypted/],
    [oaep, /RSA-OAEP-256 and A256GCM/],
    [`${compressed}.a.b.c.d`, /compressed/],
    [`${direct}..b.c.d`, /RSA-OAEP-256 and A256GCM/],
    [`${direct}.....`.slice(0, -1), /RSA-OAEP-256 and A256GCM/],
    [`${(await encrypted("x", key)).slice(0, -2)}!!`, /can't be decrypted/],
  ] as const;
  for (const [password, reason] of cases) {
    const refused = await post(password);
    assert.deepEqual([refused.status, refused.json.error], [400, "invalid input"], password);
    assert.match(refused.json.details.join(), /^body\/password: /);
    assert.match(refused.json.details.join(), reason);
  }
  const signed = Buffer.from('{"alg":"HS256"}').toString("base64url");
  for (const [at, password] of ["a.b.c.d.e", `${signed}.a.b.c.d`, `${direct}.a.b.c`, "...."].entries()) {
    const made = await rest.call("POST", "/api/users", {
      token,
      body: { ...fields, email: `p${at}@example.com`, password },
    });
    assert.equal(made.status, 201, password);
    assert.ok(
      isHashOf((await rest.store.users.find(made.json.id))?.passwordHash, password),
      "a password like any other",
    );
  }
});

test("where only encrypted ones are taken, others are refused; the key outlives a restart", async () => {
  let strict = await startRest({ requireEncryptedPasswords: true });
  const { directory } = strict;
  const key = await publishedKey(strict);
  const owner = await strict.ownerToken();
  await strict.stop();
  strict = await startRest({ requireEncryptedPasswords: true, directory });
  assert.deepEqual(await publishedKey(strict), key);
  const post = (password: string) => strict.call("POST", "/api/users", { token: owner, body: { ...fields, password } });
  const refused = await post("plain");
  assert.deepEqual([refused.status, refused.json.error], [400, "invalid input"]);
  assert.equal((await post(await encrypted("secret", key))).status, 201);
  await endRest(strict);
});
