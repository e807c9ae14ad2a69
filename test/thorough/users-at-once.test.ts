import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

let made = 0;
const body = (fields: object = {}) => ({
  name: "Ana Torres",
  email: `ana.${made++}@example.com`,
  country: "CO",
  timeZone: "America/Bogota",
  ...fields,
});
async function create(fields: object = {}) {
  const answer = await rest.call("POST", "/api/users", { token, body: body(fields) });
  assert.equal(answer.status, 201, answer.body);
  return answer.json;
}

const ownerSecret = () => ({ presentSecret: rest.owner?.apiKey });

async function tokenOf({ id, email }: { id: string; email: string }) {
  const { apiKey } = (await rest.call("POST", `/api/users/${id}/apiKey`, { token, body: ownerSecret() })).json;
  return {
    apiKey,
    token: (await rest.call("POST", "/api/Auth/Token", { body: { userName: email, apiKey } })).json.token,
  };
}

const errorOf = ({ status, json }: { status: number; json: { error: string } }) => [status, json.error];

describe("what a change of a user does at once", () => {
  test("API keys: shown once, replaced, deleted; tokens end with them", async () => {
    const user = await create();
    assert.deepEqual(
      errorOf(await rest.call("POST", "/api/Auth/Token", { body: { userName: user.email, apiKey: "x" } })),
      [401, "invalid API key or username"],
    );
    const first = await tokenOf(user);
    const path = `/api/users/${user.id}`;
    const own = await rest.call("GET", path, { token: first.token });
    assert.equal(own.status, 200);
    assert.ok(own.json.lastLogin);
    const second = await rest.call("POST", `${path}/apiKey`, {
      token: first.token,
      body: { presentSecret: first.apiKey },
    });
    assert.equal(second.status, 201);
    assert.equal(second.headers["cache-control"], "no-store");
    assert.deepEqual(errorOf(await rest.call("GET", path, { token: first.token })), [
      401,
      "authentication failed, invalid token",
    ]);
    const request = (apiKey: string) =>
      rest.call("POST", "/api/Auth/Token", { body: { userName: user.email, apiKey } });
    assert.equal((await request(first.apiKey)).status, 401);
    const third = (await request(second.json.apiKey)).json.token;
    assert.equal((await rest.call("DELETE", `${path}/apiKey`, { token: third })).status, 200);
    assert.equal((await rest.call("GET", path, { token: third })).status, 401);
    assert.equal((await request(second.json.apiKey)).status, 401);
    const stored = await rest.store.users.find(user.id);
    assert.equal(stored?.apiKeyHash, null);
  });

  test("privileges, disabling, the window and deletion", async () => {
    const user = await create({ disabledMessage: "unpaid" });
    const { token: own } = await tokenOf(user);
    const path = `/api/users/${user.id}`;
    const change = (name: string, value: unknown) =>
      rest.call("PATCH", path, { token, body: [{ op: "replace", path: `/${name}`, value }] });
    const ask = async () => errorOf(await rest.call("POST", "/api/groups", { token: own, body: {} }));
    assert.deepEqual(await ask(), [403, "permission denied"]);
    await change("privileges", ["admin"]);
    assert.deepEqual(await ask(), [400, "invalid input"]);
    await change("disabled", true);
    const disabled = await rest.call("GET", path, { token: own });
    assert.deepEqual(errorOf(disabled), [403, "user disabled"]);
    assert.deepEqual(disabled.json.details, ["unpaid"]);
    await change("disabled", false);
    await change("expires", "2020-01-01T00:00:00Z");
    assert.deepEqual(await ask(), [403, "user expired"]);
    await change("expires", null);
    await change("from", "2999-01-01T00:00:00Z");
    assert.deepEqual(await ask(), [403, "user expired"]);
    await change("from", null);
    assert.deepEqual(await ask(), [400, "invalid input"]);
    await rest.call("DELETE", path, { token });
    assert.deepEqual(await ask(), [401, "authentication failed, invalid token"]);
  });

  test("each reads itself and no other", async () => {
    const user = await create();
    const other = await create();
    const { token: own } = await tokenOf(user);
    assert.deepEqual(
      (await rest.call("GET", "/api/users", { token: own })).json.users.map(({ id }: { id: string }) => id),
      [user.id],
    );
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/apiKey"],
      ["DELETE", "/apiKey"],
    ] as const) {
      const answer = await rest.call(method, `/api/users/${other.id}${path}`, {
        token: own,
        ...(method === "POST" && { body: ownerSecret() }),
      });
      assert.deepEqual(errorOf(answer), [404, "user not found"]);
    }
  });
});
