import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
});
after(() => endRest(rest));

const owner = { name: "Ana", email: "ana@example.com", country: "CO", timeZone: "America/Bogota" };
const body = { name: "North", timeZone: "America/Bogota", licenses: 2, owner };

/** A call as the operator. */
const operate = (method: string, url: string, sent?: unknown) =>
  rest.call(method, `/api/admin/accounts${url}`, { token: operatorKey, body: sent });

describe("the operator's accounts", () => {
  test("one is made with its owner, who uses it at once; nobody else sees it", async () => {
    const made = await operate("POST", "", body);
    assert.equal(made.status, 201);
    const { account, owner: user } = made.json;
    assert.equal(made.headers.location, `/api/admin/accounts/${account.id}`);
    assert.equal(made.headers["cache-control"], "no-store");
    assert.deepEqual(account.licenses, { total: 2, used: 0, free: 2 });
    assert.equal("apiUsage" in made.json, false);
    const asked = await rest.call("POST", "/api/Auth/Token", { body: { userName: user.email, apiKey: user.apiKey } });
    assert.equal(asked.status, 200);
    const { token } = asked.json;
    const own = (await rest.call("GET", "/api/account", { token })).json;
    assert.deepEqual([own.name, own.timeZone, own.licenses], ["North", "America/Bogota", account.licenses]);
    assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "north-1" } })).status, 201);
    assert.deepEqual((await operate("GET", `/${account.id}`)).json.account.licenses, { total: 2, used: 1, free: 1 });
    const listed = (await operate("GET", "")).json.accounts;
    assert.deepEqual(
      listed.map(({ name, licenses }: { name: string; licenses: { used: number } }) => [name, licenses.used]),
      [
        ["First", 0],
        ["North", 1],
      ],
    );
    const first = await rest.ownerToken();
    assert.equal((await rest.call("GET", "/api/devices/north-1", { token: first })).status, 404);
    assert.equal((await operate("POST", "", { ...body, owner: { ...owner, email: "ANA@example.com" } })).status, 409);
    assert.equal((await operate("GET", "")).json.accounts.length, 2);
  });

  test("what is changed is changed for its users; fewer licences than are used take none away, and none is free", async () => {
    const { account, owner: user } = (
      await operate("POST", "", { ...body, licenses: 3, owner: { ...owner, email: "bo@example.com" } })
    ).json;
    const { token } = (
      await rest.call("POST", "/api/Auth/Token", { body: { userName: user.email, apiKey: user.apiKey } })
    ).json;
    const expires = new Date(rest.clock.now() + 60_000).toISOString();
    for (const id of ["bo-1", "bo-2"])
      assert.equal((await rest.call("POST", "/api/devices", { token, body: { id, expires } })).status, 201);
    const replaced = await operate("PUT", `/${account.id}`, { name: "South", timeZone: "Europe/Paris", licenses: 1 });
    assert.equal(replaced.status, 200);
    assert.deepEqual(replaced.json.account.licenses, { total: 1, used: 2, free: 0 });
    const own = (await rest.call("GET", "/api/account", { token })).json;
    assert.deepEqual([own.name, own.timeZone, own.licenses], ["South", "Europe/Paris", { total: 1, used: 2, free: 0 }]);
    const add = () => rest.call("POST", "/api/devices", { token, body: { id: "bo-3" } });
    assert.equal((await add()).json.error, "no license available");
    rest.clock.jump(60_001);
    assert.equal((await add()).status, 201);
    assert.equal((await rest.call("PUT", "/api/devices/bo-1", { token, body: {} })).json.error, "no license available");
    rest.clock.jump(-60_001);
    const url = `/${account.id}`;
    const patched = await operate("PATCH", url, [
      { op: "test", path: "/name", value: "South" },
      { op: "replace", path: "/licenses", value: 7 },
    ]);
    assert.deepEqual([patched.status, patched.json.account.licenses.total], [200, 7]);
    const cases: [unknown, number, string][] = [
      [[{ op: "test", path: "/name", value: "East" }], 409, "patch test failed"],
      [[{ op: "replace", path: "/id", value: "x" }], 400, "invalid patch operation"],
      [[{ op: "remove", path: "/name" }], 400, "invalid input"],
      [[{ op: "replace", path: "/licenses", value: -1 }], 400, "invalid input"],
      [[{ op: "replace", path: "/timeZone", value: "Nowhere/City" }], 400, "invalid input"],
      [{}, 400, "invalid patch operation"],
    ];
    for (const [operations, status, error] of cases) {
      const answer = await operate("PATCH", url, operations);
      assert.deepEqual([answer.status, answer.json.error], [status, error], JSON.stringify(operations));
    }
    assert.deepEqual((await operate("GET", url)).json.account, patched.json.account);
  });

  test("fields that can't be set are warned of", async () => {
    const odd = { ...body, Licenses: 5, owner: { ...owner, email: "odd@example.com", privileges: ["admin"] } };
    const made = await operate("POST", "", odd);
    const ignored = (name: string) => `body/${name}: not a field that can be set; ignored`;
    assert.deepEqual(made.json.warnings, [ignored("Licenses"), ignored("owner/privileges")]);
    const { id, creation } = made.json.account;
    const same = { name: "North", timeZone: "America/Bogota", licenses: 2, id, creation };
    assert.equal("warnings" in (await operate("PUT", `/${id}`, same)).json, false);
    assert.deepEqual((await operate("PUT", `/${id}`, { ...same, owner })).json.warnings, [ignored("owner")]);
  });

  test("bad input makes nothing, and says what is wrong", async () => {
    const before = (await operate("GET", "")).json.accounts.length;
    const cases: [unknown, string][] = [
      [{}, "invalid input"],
      [{ ...body, name: "" }, "invalid input"],
      [{ ...body, licenses: 1.5 }, "invalid input"],
      [{ ...body, licenses: -1 }, "invalid input"],
      [{ ...body, timeZone: "Bogota" }, "invalid input"],
      [{ ...body, owner: { ...owner, country: "Atlantis" } }, "invalid input"],
      [{ ...body, owner: { ...owner, timeZone: "UTC" } }, "invalid input"],
      [{ ...body, owner: { ...owner, email: "nobody" } }, "invalid e-mail address"],
      ["{", "invalid input"],
    ];
    for (const [sent, error] of cases) {
      const answer = await operate("POST", "", sent);
      assert.deepEqual([answer.status, answer.json.error], [400, error], JSON.stringify(sent));
      assert.ok(answer.json.details.length > 0);
    }
    assert.equal((await operate("GET", "")).json.accounts.length, before);
    for (const method of ["GET", "PUT"]) {
      const sent = method === "PUT" ? { name: "X", timeZone: "Europe/Paris", licenses: 1 } : undefined;
      const answer = await operate(method, "/unknown", sent);
      assert.deepEqual([answer.status, answer.json.error], [404, "account not found"]);
    }
  });

  test("of ten at once for one e-mail address one is made", async () => {
    const before = (await operate("GET", "")).json.accounts.length;
    const sent = { ...body, owner: { ...owner, email: "race@example.com" } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => operate("POST", "", sent)));
    const codes = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(codes, [201, ...Array.from({ length: 9 }, () => 409)]);
    assert.equal((await operate("GET", "")).json.accounts.length, before + 1);
  });

  test("only the operator's key opens them, and it opens nothing of an account", async () => {
    const owned = await rest.ownerToken();
    const refused = await rest.call("GET", "/api/admin/accounts", { token: owned });
    assert.deepEqual([refused.status, refused.json.error], [403, "permission denied"]);
    assert.ok(refused.json.apiUsage > 0);
    for (const token of ["wbo_wrong", `${operatorKey}x`, ""]) {
      const answer = await rest.call("GET", "/api/admin/accounts", { token });
      assert.deepEqual([answer.status, answer.json.error], [401, "authentication failed, invalid token"]);
    }
    for (const url of ["/api/devices", "/api/account", "/api/devices/north-1"])
      assert.equal((await rest.call("GET", url, { token: operatorKey })).status, 401);
    const quarantine = await rest.call("GET", "/api/quarantine", { token: operatorKey });
    assert.equal(quarantine.status, 200);
    assert.equal("apiUsage" in quarantine.json, false);
    assert.ok("apiUsage" in (await rest.call("GET", "/api/quarantine", { token: owned })).json);
  });
});

test("tries with wrong keys are limited by address; the right key never is, whatever others did there", async () => {
  const limited = await startRest({ limits: { requestsPerMinute: 3 } });
  const ask = (token: string | undefined, from: string) =>
    limited.call("GET", "/api/admin/accounts", { from, ...(token === undefined ? {} : { token }) });
  const wrong = [await ask("wrong", "192.0.2.1"), await ask(undefined, "192.0.2.1"), await ask("wbo_", "192.0.2.1")];
  assert.deepEqual(
    wrong.map(({ status }) => status),
    [401, 401, 401],
  );
  const refused = await ask("wrong", "192.0.2.1");
  assert.deepEqual([refused.status, refused.json.error], [429, "Too Many Requests"]);
  assert.match(String(refused.headers.ratelimit), /^"address";r=0;t=\d+$/);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  for (let count = 0; count < 5; count++) assert.equal((await ask(operatorKey, "192.0.2.1")).status, 200);
  assert.equal((await ask("wrong", "192.0.2.2")).status, 401);
  await endRest(limited);
});

test("fifty devices at once with ten free licences: ten are made; each that expires makes room for one", async () => {
  const small = await startRest({ limits: { requestsPerMinute: 100_000 } });
  const token = await small.ownerToken();
  const url = `/api/admin/accounts/${(await small.store.accounts.list())[0]?.id}`;
  const change = { name: "First", timeZone: "Etc/UTC", licenses: 10 };
  assert.equal((await small.call("PUT", url, { token: operatorKey, body: change })).status, 200);
  const expires = new Date(small.clock.now() + 60_000).toISOString();
  const add = (prefix: string, fields: object) =>
    Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        small.call("POST", "/api/devices", { token, body: { id: `${prefix}${index}`, ...fields } }),
      ),
    );
  const count = (answers: readonly { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;
  const first = await add("a", { expires });
  assert.deepEqual([count(first, 201), count(first, 409)], [10, 40]);
  small.clock.jump(60_000);
  const second = await add("b", {});
  assert.deepEqual([count(second, 201), count(second, 409)], [10, 40]);
  // None of the first ten, which have expired, can be reactivated.
  const ids = first.filter(({ status }) => status === 201).map(({ json }) => json.device.id);
  const renewed = await Promise.all(
    ids.map((id) => small.call("PUT", `/api/devices/${id}`, { token, body: { expires: null } })),
  );
  assert.equal(count(renewed, 409), 10);
  small.clock.jump(-60_000);
  assert.deepEqual((await small.call("GET", "/api/account", { token })).json.licenses, {
    total: 10,
    used: 20,
    free: 0,
  });
  small.clock.jump(60_000);
  assert.deepEqual((await small.call("GET", "/api/account", { token })).json.licenses, {
    total: 10,
    used: 10,
    free: 0,
  });
  await endRest(small);
});
