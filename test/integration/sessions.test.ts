import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { defaultLimits } from "../../src/http/limits.ts";
import { failed, part } from "../support/answers.ts";
import { type Answer, endRest, type Rest, startRest } from "../support/rest.ts";
import { cookiesOf, passwordHash, personOf, signIn } from "../support/sessions.ts";

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

async function keyOf(email: string): Promise<number> {
  return (await rest.store.users.findByEmail(email))?.key ?? 0;
}

const ask = (method: string, url: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  rest.call(method, url, { headers, ...(body !== undefined && { body }) });

const tryIn = (email: string, tried: string, headers = {}, from = "192.0.2.1") =>
  rest.call("POST", "/api/session", { body: { email, password: tried }, headers, from });

const outcome = ({ status, json }: Answer) => [status, json.error];

describe("signing in", () => {
  test("sets a cookie that no script reads and no other site's form sends, and tells who is signed in", async () => {
    const email = await person();
    const answer = await tryIn(email.toUpperCase(), password);
    assert.equal(answer.status, 200);
    const { session, apiUsage } = answer.json;
    const all = ["admin", "write", "sendCommands", "sendSmsCommands", "sendSmsAlerts", "service"];
    const user = await rest.store.users.findByEmail(email);
    const account = await rest.store.accounts.find(user?.accountKey ?? 0);
    const lifetime = Date.parse(session.expires) - rest.clock.now();
    assert.ok(lifetime > 2_591_990_000 && lifetime <= 2_592_000_000);
    assert.deepEqual(
      { ...session, csrf: session.csrf.length, expires: "" },
      { userId: user?.id, account: account?.id, email, csrf: 43, expires: "", secondFactor: false, may: all },
    );
    assert.ok(apiUsage > 0 && user?.lastLogin !== null);
    const [cookie = "", mark = ""] = [answer.headers["set-cookie"]].flat().map(String);
    assert.match(cookie, /^waybeam=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.match(mark, /^waybeam-browser=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    const token = cookiesOf(answer).get("waybeam") ?? "";
    assert.equal(
      (await rest.store.signIns.list(user?.key ?? 0)).some((each) => JSON.stringify(each).includes(token)),
      false,
    );
    const read = await ask("GET", "/api/session", { cookie: `other=1; waybeam=${token}` });
    assert.deepEqual(read.json.session, session);
  });

  test("a wrong password, none and an unknown address can't be told apart, and what is no sign-in is a bad one", async () => {
    const [email, without] = [await person(), await person({ passwordHash: null })];
    for (const each of [email, without, "nobody@example.com"])
      assert.deepEqual((await tryIn(each, "wrong")).json, failed("wrong e-mail address or password"));
    for (const body of [{}, { email }, { email, password: "" }, { email, password: 1 }, []])
      assert.deepEqual(part(await rest.call("POST", "/api/session", { body })), failed("Bad Request"));
  });

  test("who may do nothing is told so, with the right password only", async () => {
    const email = await person({ disabled: true, disabledMessage: "unpaid" });
    const refused = await tryIn(email, password);
    assert.deepEqual([...outcome(refused), refused.json.details], [403, "user disabled", ["unpaid"]]);
    assert.equal(cookiesOf(refused).size, 0);
    assert.deepEqual(outcome(await tryIn(email, "wrong")), [401, "wrong e-mail address or password"]);
  });

  test("who is signed in is asked without a failure where nobody is", async () => {
    const nobody = { success: true, error: null, session: null };
    const ended = await signIn(rest, await person(), password);
    await ask("DELETE", "/api/session", ended);
    for (const headers of [{}, ended, { cookie: "waybeam=forged" }, { authorization: "Bearer a.b.c" }]) {
      const answer = await ask("GET", "/api/session", headers);
      assert.deepEqual([answer.status, answer.json], [200, nobody]);
    }
    const { json } = await rest.call("GET", "/api/session", { token: await rest.ownerToken() });
    assert.ok(json.apiUsage > 0);
    assert.equal(json.session, null);
  });

  test("again, from the same browser, ends the session before", async () => {
    const email = await person();
    const first = await signIn(rest, email, password);
    const second = personOf(await tryIn(email, password, { cookie: first.cookie }));
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", first)).json, invalid);
    assert.equal((await ask("GET", "/api/session/sign-ins", second)).status, 200);
  });
});

describe("a session", () => {
  test("is a way into every call, beside the token, which counts where both are sent", async () => {
    const headers = await signIn(rest, await person(), password);
    const listed = await ask("GET", "/api/devices", headers);
    assert.equal(listed.status, 200);
    assert.match(String(listed.headers.ratelimit), /^"user";/);
    const made = await ask("POST", "/api/groups", headers, { name: "Trucks" });
    assert.equal(made.status, 201);
    assert.equal((await ask("GET", "/api/nothing", headers)).status, 404);
    const both = { ...headers, authorization: "Bearer a.b.c" };
    assert.deepEqual((await ask("GET", "/api/devices", both)).json, invalid);
    const token = await rest.userToken({ privileges: ["write"] });
    const { status } = await rest.call("GET", "/api/devices", { token, headers: { cookie: "waybeam=forged" } });
    assert.equal(status, 200);
  });

  test("has the rights of its user, and no other: they go at once when the user's do", async () => {
    const email = await person();
    const headers = await signIn(rest, email, password);
    const { id } = (await rest.store.users.findByEmail(email)) ?? { id: "" };
    const token = await rest.ownerToken();
    const set = (path: string, value: unknown) =>
      rest.call("PATCH", `/api/users/${id}`, { token, body: [{ op: "add", path, value }] });
    const may = async () => (await ask("GET", "/api/session", headers)).json.session.may;
    assert.equal((await ask("POST", "/api/groups", headers, { name: "A" })).status, 201);
    await set("/privileges", ["write", "execute"]);
    assert.deepEqual(await may(), ["write", "sendCommands", "sendSmsCommands"]);
    await set("/privileges", ["sendSmsAlerts", "sendCommands"]);
    assert.deepEqual(await may(), ["sendCommands", "sendSmsAlerts"]);
    await set("/privileges", ["read"]);
    assert.deepEqual(await may(), []);
    assert.deepEqual(outcome(await ask("POST", "/api/groups", headers, { name: "B" })), [403, "permission denied"]);
    await set("/disabled", true);
    assert.deepEqual(outcome(await ask("GET", "/api/devices", headers)), [403, "user disabled"]);
    await set("/disabled", false);
    assert.equal((await ask("GET", "/api/devices", headers)).status, 200);
    await rest.call("DELETE", `/api/users/${id}`, { token });
    assert.deepEqual((await ask("GET", "/api/devices", headers)).json, invalid);
  });

  test("outlives the API key: they are two ways in", async () => {
    const email = await person();
    const headers = await signIn(rest, email, password);
    const { id } = (await rest.store.users.findByEmail(email)) ?? { id: "" };
    await rest.call("DELETE", `/api/users/${id}/apiKey`, { token: await rest.ownerToken() });
    assert.equal((await ask("GET", "/api/devices", headers)).status, 200);
  });

  test("ends when it is not used for a day, and after 30 days even if it is", async () => {
    const headers = await signIn(rest, await person(), password);
    const idle = await signIn(rest, await person(), password);
    rest.clock.pass(86_390_000);
    assert.equal((await ask("GET", "/api/session/sign-ins", headers)).status, 200);
    rest.clock.pass(10_000);
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", idle)).json, invalid);
    // A day and 30 times 23 hours are 29.8 days.
    for (let use = 0; use < 30; use++) {
      rest.clock.pass(82_800_000);
      assert.equal((await ask("GET", "/api/session/sign-ins", headers)).status, 200, `use ${use}`);
    }
    rest.clock.pass(82_800_000);
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", headers)).json, invalid);
  });

  test("has room beside two others of the user: the one that was not used for longest goes", async () => {
    const email = await person();
    const all = [];
    for (let at = 0; at < 4; at++) {
      all.push(await signIn(rest, email, password));
      rest.clock.pass(1000);
    }
    const codes = [];
    for (const headers of all) codes.push((await ask("GET", "/api/session/sign-ins", headers)).status);
    assert.deepEqual(codes, [401, 200, 200, 200]);
  });

  test("forged cookies are none", async () => {
    for (const value of ["", "x", "a".repeat(43), `${"a".repeat(42)}=`, "a".repeat(5000), "../../etc"])
      assert.deepEqual(
        (await ask("GET", "/api/session/sign-ins", { cookie: `waybeam=${value}` })).json,
        invalid,
        value,
      );
  });
});

describe("signing out", () => {
  test("ends this session alone, and takes its cookie away", async () => {
    const email = await person();
    const [here, there] = [await signIn(rest, email, password), await signIn(rest, email, password)];
    const answer = await ask("DELETE", "/api/session", here);
    assert.deepEqual([answer.status, cookiesOf(answer).get("waybeam")], [200, ""]);
    assert.match(String(answer.headers["set-cookie"]), /Max-Age=0;/);
    assert.deepEqual((await ask("GET", "/api/session/sign-ins", here)).json, invalid);
    assert.equal((await ask("GET", "/api/session/sign-ins", there)).status, 200);
  });

  test("everywhere ends all of the user's, and nobody else's", async () => {
    const email = await person();
    const other = await signIn(rest, await person(), password);
    const [here, there] = [await signIn(rest, email, password), await signIn(rest, email, password)];
    assert.equal((await ask("DELETE", "/api/session/sign-ins", here)).status, 200);
    for (const headers of [here, there])
      assert.deepEqual((await ask("GET", "/api/session/sign-ins", headers)).json, invalid);
    assert.equal((await ask("GET", "/api/session/sign-ins", other)).status, 200);
    assert.deepEqual(await rest.store.signIns.list(await keyOf(email)), []);
  });

  test("the list tells time, address and browser of each, and which one this is", async () => {
    const email = await person();
    const name = `Mozilla/5.0 <script>${"x".repeat(300)}`;
    const first = personOf(await tryIn(email, password, { "user-agent": name }, "2001:db8::7"));
    rest.clock.pass(60_000);
    const second = personOf(await tryIn(email, password, { "user-agent": "Firefox" }));
    const { signIns } = (await ask("GET", "/api/session/sign-ins", second)).json;
    assert.deepEqual(
      signIns.map(({ address, browser, current }: Answer["json"]) => [address, browser, current]),
      [
        ["192.0.2.1", "Firefox", true],
        ["2001:db8::7", name.slice(0, 256), false],
      ],
    );
    const [one, two] = signIns.map(({ time }: { time: string }) => Date.parse(time));
    assert.ok(one - two >= 60_000);
    assert.equal((await ask("GET", "/api/session/sign-ins", first)).status, 200);
  });
});

describe("pages of other sites", () => {
  const foreign = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:81" },
  ];
  const own: Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { origin: "http://localhost:80" },
    { origin: "http://localhost" },
    // As the development server of the console passes it on.
    { "sec-fetch-site": "same-origin", origin: "http://localhost:5173" },
  ];

  test("write nothing: not without the session's own CSRF text, and not with it", async () => {
    const headers = await signIn(rest, await person(), password);
    const stranger = await signIn(rest, await person(), password);
    const { cookie } = headers;
    const host = { host: "localhost:80" };
    const denied = [403, "permission denied"];
    for (const sent of [{}, { "x-csrf": "" }, { "x-csrf": "x" }, { "x-csrf": stranger["x-csrf"] }])
      assert.deepEqual(outcome(await ask("POST", "/api/groups", { cookie, ...sent }, { name: "A" })), denied);
    for (const sent of foreign)
      assert.deepEqual(outcome(await ask("DELETE", "/api/session", { ...headers, ...host, ...sent })), denied);
    for (const sent of own)
      assert.equal((await ask("POST", "/api/groups", { ...headers, ...host, ...sent }, { name: "A" })).status, 201);
    assert.equal((await ask("GET", "/api/devices", { cookie })).status, 200);
  });

  test("sign nobody in", async () => {
    const email = await person();
    for (const sent of foreign) {
      const answer = await tryIn(email, password, sent);
      assert.deepEqual([...outcome(answer), cookiesOf(answer).size], [403, "permission denied", 0]);
    }
    for (const sent of own) assert.equal((await tryIn(email, password, { host: "localhost:80", ...sent })).status, 200);
  });
});

describe("guessing", () => {
  test("has ten tries for an address from one place, right ones not counted; another place has its own", async () => {
    const email = await person();
    for (let at = 0; at < 11; at++) assert.equal((await tryIn(email, password)).status, 200);
    for (let at = 0; at < 10; at++) assert.equal((await tryIn(email, "wrong")).status, 401);
    const refused = await tryIn(email, password);
    assert.deepEqual(outcome(refused), [429, "Too Many Requests"]);
    assert.ok(Number(refused.headers["retry-after"]) > 800);
    assert.equal((await tryIn(email, password, {}, "192.0.2.2")).status, 200);
    assert.equal((await tryIn("nobody@example.com", "wrong")).status, 401);
    rest.clock.pass(900_000);
    assert.equal((await tryIn(email, password)).status, 200);
  });

  test("has so many in an hour from everywhere; a browser that signed in before is not kept out, yet bounded", async () => {
    const [email, unknown] = [await person(), "unknown@example.com"];
    const mark = `waybeam-browser=${cookiesOf(await tryIn(email, password)).get("waybeam-browser")}`;
    for (const each of [email, unknown])
      for (let at = 0; at < 12; at++)
        assert.equal((await tryIn(each, "wrong", {}, `198.51.100.${at}`)).status, 401, `${each} ${at}`);
    for (const each of [email, unknown]) assert.equal((await tryIn(each, password, {}, "198.51.100.200")).status, 429);
    const known = (tried: string) => tryIn(email, tried, { cookie: mark }, "198.51.100.201");
    assert.equal((await known(password)).status, 200);
    const other = await person();
    assert.equal((await tryIn(unknown, "wrong", { cookie: mark })).status, 429, "the mark is for one address");
    for (let at = 0; at < 10; at++) assert.equal((await known("wrong")).status, 401);
    assert.equal((await known(password)).status, 429);
    assert.equal((await tryIn(other, password)).status, 200);
    rest.clock.pass(3_600_000);
    assert.equal((await tryIn(email, password, {}, "198.51.100.200")).status, 200);
  });

  test("is bounded by the address it comes from, before anything is looked at", async () => {
    const few = await startRest({ limits: { sessions: { ...sessions, triesPerMinute: 2 } } });
    const tried = async (body: unknown, from: string) =>
      (await few.call("POST", "/api/session", { body, from })).status;
    const codes = [await tried({}, "192.0.2.1"), await tried([], "192.0.2.1"), await tried({}, "192.0.2.1")];
    assert.deepEqual([...codes, await tried({}, "192.0.2.2")], [400, 400, 429, 400]);
    await endRest(few);
  });
});

test("behind a proxy that is trusted and speaks HTTPS the cookie is for HTTPS alone, and the origin is the proxy's", async () => {
  const proxied = await startRest({ trustProxy: "loopback", limits: { sessions } });
  await proxied.userToken({ email: "ana@example.com", passwordHash: hash, passwordSignsIn: true });
  const sent = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "track.example.com",
    "x-forwarded-for": "192.0.2.9",
  };
  const body = { email: "ana@example.com", password };
  const headers = { ...sent, origin: "https://track.example.com" };
  const answer = await proxied.call("POST", "/api/session", { body, headers });
  const [cookie] = [answer.headers["set-cookie"]].flat().map(String);
  assert.match(cookie ?? "", /^__Host-waybeam=[\w-]{43}; .*; Path=\/; .*; Secure$/);
  const person = personOf(answer);
  const read = await proxied.call("GET", "/api/session/sign-ins", { headers: { ...sent, ...person } });
  assert.equal(read.json.signIns[0].address, "192.0.2.9");
  // A cookie that came by HTTPS is none without it, and no other is one with it.
  assert.equal((await proxied.call("GET", "/api/session/sign-ins", { headers: person })).status, 401);
  const plain = { ...sent, cookie: person.cookie.replaceAll("__Host-", "") };
  assert.equal((await proxied.call("GET", "/api/session/sign-ins", { headers: plain })).status, 401);
  await endRest(proxied);
});
