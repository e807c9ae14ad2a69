import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { failed, part } from "../support/answers.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

describe("tokens", () => {
  test("name in any case and path in any case; counters from the first answer on", async () => {
    const { userName, apiKey } = rest.owner ?? { userName: "", apiKey: "" };
    const answer = await rest.call("POST", "/API/auth/TOKEN", { body: { userName: userName.toUpperCase(), apiKey } });
    assert.equal(answer.status, 200);
    assert.equal(answer.json.success, true);
    assert.equal(answer.json.error, null);
    assert.ok(answer.json.apiUsage >= 1 && answer.json.apiDailyUsage >= 1);
    const lifetime = Date.parse(answer.json.expires) - rest.clock.now();
    assert.ok(lifetime > 86_390_000 && lifetime <= 86_400_000, String(lifetime));
    assert.equal((await rest.call("GET", "/api/devices", { token: answer.json.token })).status, 200);
  });

  test("a wrong key and an unknown name can't be told apart", async () => {
    const userName = rest.owner?.userName;
    for (const body of [
      { userName, apiKey: "wrong" },
      { userName: "nobody@example.com", apiKey: "wrong" },
    ]) {
      const answer = await rest.call("POST", "/api/Auth/Token", { body });
      assert.equal(answer.status, 401);
      assert.deepEqual(answer.json, failed("invalid API key or username"));
    }
  });

  test("what is no token request is a bad one", async () => {
    for (const body of [
      {},
      { userName: "x" },
      { apiKey: "x" },
      { userName: 1, apiKey: "x" },
      { UserName: "x", apiKey: "x" },
      [],
      "null",
      "{",
      "",
      '{"__proto__":{"userName":"x"}}',
    ]) {
      const answer = await rest.call("POST", "/api/Auth/Token", { body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.deepEqual(part(answer), failed("Bad Request"));
      assert.ok(answer.json.details.length > 0);
    }
  });

  test("media types other than JSON are refused", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "text/json", "x"]) {
      const answer = await rest.call("POST", "/api/Auth/Token", { body: "{}", headers: { "content-type": type } });
      assert.equal(answer.status, 415, type);
      assert.deepEqual(part(answer), failed("Unsupported Media Type"));
    }
    const charset = await rest.call("POST", "/api/Auth/Token", {
      body: "{}",
      headers: { "content-type": "Application/JSON; charset=utf-8" },
    });
    assert.equal(charset.status, 400);
  });

  test("a token ends with its time, its key and its user", async () => {
    const invalid = failed("authentication failed, invalid token");
    for (const headers of [
      {},
      { authorization: "Bearer" },
      { authorization: "Bearer a.b.c" },
      { authorization: token },
    ]) {
      const answer = await rest.call("GET", "/api/devices", { headers });
      assert.equal(answer.status, 401);
      assert.deepEqual(answer.json, invalid);
      assert.equal(answer.headers["www-authenticate"], "Bearer");
    }
    const replaced = await rest.userToken({ email: "replaced@example.com" });
    assert.equal((await rest.call("GET", "/api/devices", { token: replaced })).status, 200);
    const user = await rest.store.users.findByEmail("replaced@example.com");
    assert.ok(user);
    await rest.store.users.setApiKey(user.key, { id: "another", hash: "00" }, rest.clock.now());
    rest.bus.publish({ type: "userChanged", accountKey: 1, key: user.key });
    assert.deepEqual((await rest.call("GET", "/api/devices", { token: replaced })).json, invalid);
    await rest.store.users.setApiKey(user.key, null, rest.clock.now());
    rest.bus.publish({ type: "userChanged", accountKey: 1, key: user.key });
    assert.deepEqual((await rest.call("GET", "/api/devices", { token: replaced })).json, invalid);
  });
});
