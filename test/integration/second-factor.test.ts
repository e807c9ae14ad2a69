import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeSessionToken } from "../../src/auth/session-token.ts";
import { totp } from "../../src/auth/totp.ts";
import { firstTokenSetting } from "../../src/domain/first-password.ts";
import { defaultLimits } from "../../src/http/limits.ts";
import { systemClock, systemIds } from "../../src/observe/index.ts";
import { failed } from "../support/answers.ts";
import { type Answer, endRest, type Rest, startRest } from "../support/rest.ts";
import { passwordHash, personOf, signIn } from "../support/sessions.ts";

const password = "correct horse battery";
const invalid = failed("authentication failed, invalid token");
const sessions = { ...defaultLimits.sessions, triesPerMinute: 100_000, perUser: 3, wrongPerHour: 12 };

let rest: Rest;
let hash: string;
let made = 0;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000, sessions } });
  hash = await passwordHash(password);
});
after(() => endRest(rest));

/** A user with that password; gives its e-mail address. */
async function person(fields: object = {}): Promise<string> {
  const email = `person.${made++}@example.com`;
  await rest.userToken({ email, passwordHash: hash, passwordSignsIn: true, privileges: ["admin"], ...fields });
  return email;
}

const ask = (method: string, url: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  rest.call(method, url, { headers, ...(body !== undefined && { body }) });

const tryIn = (email: string, tried: string, headers = {}, from = "192.0.2.1") =>
  rest.call("POST", "/api/session", { body: { email, password: tried }, headers, from });

const outcome = ({ status, json }: Answer) => [status, json.error];

describe("the owner's first password", () => {
  test("is set by the link, once, with twelve characters at least, and signs in", async () => {
    const fresh = await startRest({ limits: { sessions } });
    const { token, hash: tokenHash } = makeSessionToken(systemIds);
    const first = (body: object, headers = {}) => fresh.call("POST", "/api/session/first", { body, headers });
    const gone = [404, "link not valid"];
    assert.deepEqual(outcome(await first({ token, password })), gone, "before there is a link");
    await fresh.store.accounts.setting(firstTokenSetting, () => tokenHash);
    assert.deepEqual(outcome(await first({ token: `${token.slice(1)}A`, password })), gone);
    const short = await first({ token, password: "🚚".repeat(11) });
    assert.deepEqual(
      [...outcome(short), short.json.details],
      [...[400, "invalid input"], ["body/password: must have 12 characters at least"]],
    );
    assert.equal((await first({ token, password }, { "sec-fetch-site": "cross-site" })).status, 403);
    const [one, other] = await Promise.all([first({ token, password }), first({ token, password: `${password}!` })]);
    assert.deepEqual([one.status, other.status], [200, 404]);
    const headers = personOf(one);
    assert.equal((await fresh.call("GET", "/api/session", { headers })).json.session.email, "Owner@Example.com");
    assert.deepEqual(outcome(await first({ token, password })), gone);
    await signIn(fresh, "owner@example.com", password);
    await endRest(fresh);
  });
});

describe("a new password", () => {
  const next = "another long password";

  test("of one's own asks for the present one, and ends all other sessions", async () => {
    const email = await person({ privileges: ["read"] });
    const [here, there] = [await signIn(rest, email, password), await signIn(rest, email, password)];
    const change = (body: object) => ask("PUT", "/api/session/password", here, body);
    for (const presentSecret of ["wrong", next])
      assert.deepEqual(outcome(await change({ presentSecret, password: next })), [403, "permission denied"]);
    assert.deepEqual(outcome(await change({ presentSecret: password, password: "short" })), [400, "invalid input"]);
    assert.equal((await ask("GET", "/api/session/sign-ins", there)).status, 200);
    assert.equal((await change({ presentSecret: password, password: next })).status, 200);
    assert.equal((await ask("GET", "/api/session/sign-ins", here)).status, 200);
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", there)).json, invalid);
    assert.equal((await tryIn(email, password)).status, 401);
    await signIn(rest, email, next);
  });

  test("ends them however it is set, and those of who sets it for another not", async () => {
    const [email, boss] = [await person(), await person()];
    const user = await rest.store.users.findByEmail(email);
    const [here, there, theirs] = [
      await signIn(rest, email, password),
      await signIn(rest, email, password),
      await signIn(rest, boss, password),
    ];
    const good = async () =>
      (await Promise.all([here, there, theirs].map((each) => ask("GET", "/api/session/sign-ins", each)))).map(
        ({ status }) => status,
      );
    const set = (headers: typeof here, ...steps: object[]) => ask("PATCH", `/api/users/${user?.id}`, headers, steps);
    const step = (name: string, value: string) => ({ op: "add", path: `/${name}`, value });
    assert.equal((await set(here, step("name", "Ana"))).status, 200);
    assert.deepEqual(await good(), [200, 200, 200]);
    const secret = step("presentSecret", password);
    assert.equal((await set(here, step("password", next), secret)).status, 200);
    assert.deepEqual(await good(), [200, 401, 200]);
    assert.equal((await set(theirs, step("password", password), secret)).status, 200);
    assert.deepEqual(await good(), [401, 401, 200]);
    await signIn(rest, email, password);
  });

  test("that an admin sets by a token alone is no way in: it would outlast a stolen token", async () => {
    const email = await person();
    const headers = await signIn(rest, email, password);
    const token = await rest.userToken({ privileges: ["admin"], passwordHash: hash, passwordSignsIn: true });
    const made = { name: "Eva", email: `eva.${email}`, country: "CO", timeZone: "America/Bogota", password: next };
    const path = `/api/users/${(await rest.store.users.findByEmail(email))?.id}`;
    const calls: [string, string, object][] = [
      ["POST", "/api/users", made],
      ["PUT", path, { ...made, email }],
      ["PATCH", path, [{ op: "add", path: "/password", value: next }]],
    ];
    for (const [method, url, body] of calls) {
      const { status, json } = await rest.call(method, url, { token, body });
      assert.ok(status < 300, url);
      assert.deepEqual(json.warnings, ["body/password: does not sign in, since it was set without presentSecret"]);
      assert.equal((await tryIn(method === "POST" ? made.email : email, next)).status, 401);
    }
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", headers)).json, invalid);
    const set = (presentSecret: string) => rest.call("PUT", path, { token, body: { ...made, email, presentSecret } });
    assert.deepEqual(outcome(await set("wrong")), [403, "permission denied"]);
    assert.equal("warnings" in (await set(password)).json, false);
    await signIn(rest, email, next);
    const eva = { ...made, email: `second.${email}`, presentSecret: password };
    assert.equal((await rest.call("POST", "/api/users", { token, body: eva })).status, 201);
    await signIn(rest, eva.email, next);
  });
});

describe("a second factor", () => {
  const path = "/api/session/second-factor";
  const codeOf = (secret: string) => totp(secret, Math.floor(rest.clock.now() / 30_000));

  /** A person with a confirmed second factor, and a browser in which it is signed in. */
  async function guarded() {
    const email = await person();
    const headers = await signIn(rest, email, password);
    const { secret } = (await ask("POST", path, headers, { presentSecret: password })).json;
    const { recoveryCodes } = (await ask("POST", path, headers, { code: codeOf(secret) })).json;
    rest.clock.pass(30_000);
    const tryCode = (code?: string | null, from = "192.0.2.1", { cookie = "" } = {}) =>
      rest.call("POST", "/api/session", { body: { email, password, code }, from, headers: { cookie } });
    return { email, headers, secret, recoveryCodes, tryCode };
  }
  const needed = (why: string) => [401, "second factor needed", [`body/code: is ${why}`]];
  const told = (answer: Answer) => [...outcome(answer), answer.json.details];

  test("counts once it is confirmed, and asks for the present password or key", async () => {
    const email = await person();
    const headers = await signIn(rest, email, password);
    const make = (body: object) => ask("POST", path, headers, body);
    assert.deepEqual(outcome(await make({ presentSecret: "wrong" })), [403, "permission denied"]);
    assert.deepEqual(outcome(await make({ code: "123456" })), [409, "no second factor"]);
    for (const body of [{}, { presentSecret: password, code: "123456" }])
      assert.deepEqual(outcome(await make(body)), [400, "Bad Request"]);
    const replaced = (await make({ presentSecret: password })).json;
    const begun = (await make({ presentSecret: password })).json;
    assert.deepEqual(
      begun.uri,
      `otpauth://totp/Waybeam:${encodeURIComponent(email)}?secret=${begun.secret}&issuer=Waybeam`,
    );
    assert.deepEqual(outcome(await make({ code: codeOf(replaced.secret) })), [409, "wrong code"]);
    assert.equal((await tryIn(email, password)).status, 200, "not asked for before it is confirmed");
    const confirmed = await make({ code: codeOf(begun.secret) });
    assert.deepEqual([confirmed.status, confirmed.json.recoveryCodes.length, confirmed.json.secret], [200, 10, null]);
    assert.deepEqual(outcome(await make({ code: codeOf(begun.secret) })), [409, "second factor already set"]);
    assert.deepEqual(outcome(await make({ presentSecret: password })), [409, "second factor already set"]);
    assert.equal((await ask("GET", "/api/session", headers)).json.session.secondFactor, true);
    const user = await rest.store.users.findByEmail(email);
    const stored = JSON.stringify(await rest.store.secondFactors.find(user?.key ?? 0));
    for (const code of confirmed.json.recoveryCodes) assert.equal(stored.includes(code), false);
  });

  test("is not confirmed by guessing", async () => {
    const headers = await signIn(rest, await person(), password);
    const { secret } = (await ask("POST", path, headers, { presentSecret: password })).json;
    const codes: number[] = [];
    for (let at = 0; at < 11; at++) codes.push((await ask("POST", path, headers, { code: "000000" })).status);
    assert.deepEqual(codes, [...new Array(10).fill(409), 429]);
    assert.equal((await ask("POST", path, headers, { code: codeOf(secret) })).status, 429);
    rest.clock.pass(900_000);
    assert.equal((await ask("POST", path, headers, { code: codeOf(secret) })).status, 200);
  });

  test("asks for a code after the right password, and takes each once", async () => {
    const { email, secret, tryCode } = await guarded();
    for (const code of [undefined, null, "", " - "]) assert.deepEqual(told(await tryCode(code)), needed("needed"));
    assert.deepEqual(outcome(await tryIn(email, "wrong")), [401, "wrong e-mail address or password"]);
    const code = codeOf(secret);
    assert.equal((await tryCode(`${code.slice(0, 3)} ${code.slice(3)}`)).status, 200);
    assert.deepEqual(told(await tryCode(code)), needed("wrong"));
    rest.clock.pass(30_000);
    assert.equal((await tryCode(codeOf(secret))).status, 200);
  });

  test("takes a recovery code in its place, once", async () => {
    const { recoveryCodes, tryCode } = await guarded();
    assert.equal((await tryCode(recoveryCodes[3].toUpperCase())).status, 200);
    assert.deepEqual(told(await tryCode(recoveryCodes[3])), needed("wrong"));
    assert.equal((await tryCode(recoveryCodes[4])).status, 200);
  });

  test("takes ten wrong codes in a quarter of an hour, from wherever", async () => {
    const { secret, tryCode, headers } = await guarded();
    for (let at = 0; at < 10; at++) assert.equal((await tryCode("000000", `198.51.100.${at}`)).status, 401);
    const refused = await tryCode(codeOf(secret), "198.51.100.99");
    assert.deepEqual(outcome(refused), [429, "Too Many Requests"]);
    const { status } = await tryCode(codeOf(secret), "192.0.2.1", headers);
    assert.equal(status, 200, "a browser that was there before is not kept out by others");
    rest.clock.pass(900_000);
    assert.equal((await tryCode(codeOf(secret))).status, 200);
  });

  test("is ended by its user with the password, or by an admin with its own; the owner's by the owner alone", async () => {
    const { headers, tryCode } = await guarded();
    assert.equal((await ask("DELETE", path, headers, { presentSecret: "wrong" })).status, 403);
    assert.deepEqual(told(await tryCode()), needed("needed"));
    assert.equal((await ask("DELETE", path, headers, { presentSecret: password })).status, 200);
    assert.equal((await tryCode()).status, 200);
    assert.deepEqual(outcome(await ask("DELETE", path, headers, { presentSecret: password })), [
      409,
      "no second factor",
    ]);

    const lost = await guarded();
    const { id } = (await rest.store.users.findByEmail(lost.email)) ?? {};
    const end = (userId: unknown, presentSecret = password) =>
      ask("DELETE", `/api/users/${userId}/secondFactor`, headers, { presentSecret });
    assert.equal((await end(id, "wrong")).status, 403);
    assert.equal((await end(id)).status, 200);
    assert.equal((await lost.tryCode()).status, 200);
    const owner = await rest.store.users.findByEmail("owner@example.com");
    await rest.store.secondFactors.begin(owner?.key ?? 0, "A");
    assert.deepEqual(outcome(await end(owner?.id)), [409, "account owner is protected"]);
    const body = { presentSecret: rest.owner?.apiKey };
    const own = await rest.call("DELETE", `/api/users/${owner?.id}/secondFactor`, {
      token: await rest.ownerToken(),
      body,
    });
    assert.equal(own.status, 200);
  });
});

describe("an API key", () => {
  test("is made by who signed in, shown once, listed without its secret, and ended", async () => {
    const email = await person({ privileges: ["read"] });
    const headers = await signIn(rest, email, password);
    const { id } = (await rest.store.users.findByEmail(email)) ?? {};
    const path = `/api/users/${id}/apiKey`;
    await ask("DELETE", path, headers);
    assert.equal((await ask("GET", path, headers)).json.key, null);
    const made = await ask("POST", path, headers, { presentSecret: password });
    assert.equal(made.status, 201);
    const read = await ask("GET", path, headers);
    // Ids have the time of the system's clock, which the tests' own is ahead of.
    assert.ok(Math.abs(Date.parse(read.json.key.creation) - systemClock.now()) < 600_000);
    assert.equal(read.body.includes(made.json.apiKey), false);
    const credentials = { userName: email, apiKey: made.json.apiKey };
    assert.equal((await rest.call("POST", "/api/Auth/Token", { body: credentials })).status, 200);
    await ask("DELETE", path, headers);
    assert.equal((await rest.call("POST", "/api/Auth/Token", { body: credentials })).status, 401);
    assert.equal((await ask("GET", "/api/session/sign-ins", headers)).status, 200);
    const stranger = await signIn(rest, await person({ privileges: ["read"] }), password);
    assert.equal((await ask("GET", path, stranger)).status, 404);
  });
});
