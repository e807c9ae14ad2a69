import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

const fix = (second: number): Fix => ({
  type: "fix",
  time: Date.UTC(2026, 0, 1) + second * 1000,
  valid: true,
  latitude: 1,
  longitude: 2,
  alarms: [],
  readings: {},
  attributes: {},
});

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

describe("the API page", () => {
  test("loads over plain http from any machine, and asks no other host", async () => {
    const get = (url: string) => rest.http.inject({ method: "GET", url, headers: { host: "tracking.example:8080" } });
    for (const url of ["/docs", "/docs/", "/docs/static/swagger-initializer.js"]) {
      const { statusCode, headers } = await get(url);
      assert.equal(statusCode, 200, url);
      const policy = String(headers["content-security-policy"]);
      assert.doesNotMatch(policy, /upgrade-insecure-requests|https?:|\*|[a-z]\.[a-z]/, url);
      assert.match(policy, /default-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers.server ?? headers["x-powered-by"], undefined);
      assert.equal("strict-transport-security" in headers, false);
    }
    const { body } = await get("/docs/static/swagger-initializer.js");
    assert.match(body, /"?validatorUrl"?: ?null/);
    assert.doesNotMatch(body, /validator\.swagger\.io/);
    assert.match(body, /"?persistAuthorization"?: ?true/);
    const page = (await get("/docs")).body;
    assert.match(page, /<title>Waybeam API<\/title>/);
    const [, icon = ""] = /rel="icon" type="image\/svg\+xml" href="\.?([^"]+)"/.exec(page) ?? [];
    assert.equal(
      (await get(icon.startsWith("/docs") ? icon : `/docs${icon}`)).headers["content-type"],
      "image/svg+xml",
    );
    assert.deepEqual((await get("/docs/json")).json(), rest.http.openApi());
  });

  test("answers HEAD as GET, without the body", async () => {
    const { statusCode, body, headers } = await rest.http.inject({
      method: "HEAD",
      url: "/docs/static/swagger-ui.css",
    });
    assert.deepEqual([statusCode, body], [200, ""]);
    assert.match(String(headers["content-type"]), /^text\/css/);
  });

  test("has no other parts", async () => {
    for (const url of ["/docs/nothing", "/docs/static/nothing.js", "/docs/static/..%2f..%2fpackage.json"])
      assert.equal((await rest.call("GET", url)).status, 404, url);
  });
});

test("the root leads to the API page, and is no part of the API", async () => {
  for (const method of ["GET", "HEAD"] as const) {
    const { statusCode, headers } = await rest.http.inject({ method, url: "/" });
    assert.deepEqual([statusCode, headers.location], [302, "/docs"], method);
  }
  assert.equal((await rest.http.inject({ method: "POST", url: "/" })).statusCode, 404);
  assert.equal("/" in (rest.http.openApi() as { paths: object }).paths, false);
});

test("an answer may be kept by nobody between, however its path is spelt", async () => {
  for (const url of ["/api/devices", "/%61pi/devices", "/API/%64evices", "/api/nothing", "/health/live", "/%"]) {
    const { headers } = await rest.http.inject({ url, headers: { authorization: `Bearer ${token}` } });
    assert.equal(headers["cache-control"], "no-store", url);
  }
  const keys = await rest.http.inject("/.well-known/jwks.json");
  assert.equal(keys.headers["cache-control"], "public, max-age=300");
});

describe("ids of devices", () => {
  const dots = [".", ".."];

  test("those that a URL client would take for steps of a path are refused, as aliases too", async () => {
    for (const id of dots) {
      const asId = await rest.call("POST", "/api/devices", { token, body: { id } });
      assert.deepEqual([asId.status, asId.json.error], [400, "Bad Request"]);
      assert.match(asId.json.details[0], /^body\/id: must be 1 to 64 of/);
      const asAlias = await rest.call("POST", "/api/devices", { token, body: { id: "dotted", aliases: ["a", id] } });
      assert.equal(asAlias.status, 400);
      assert.match(asAlias.json.details[0], /^body\/aliases\/1: must be 1 to 64 of/);
    }
  });

  test("what is accepted as an id reaches the device by a URL that was normalised", async () => {
    for (const id of ["...", "a.", ".a", "..a", "-", "_", ":", "a:b", "http:"]) {
      const made = await rest.call("POST", "/api/devices", { token, body: { id } });
      assert.equal(made.status, 201, id);
      const location = String(made.headers.location);
      const { pathname } = new URL(location, "http://tracking.example");
      const { pathname: plain } = new URL(`/api/devices/${id}`, "http://tracking.example");
      for (const path of [pathname, plain])
        assert.equal((await rest.call("GET", path, { token })).json.device?.id, id, path);
      assert.equal((await rest.call("DELETE", pathname, { token })).status, 200, id);
    }
  });
});

test("a blank name of a device is an unset one: the id stands for it, in answers of every call", async () => {
  for (const name of ["", " ", "\t\u3000"]) {
    const made = await rest.call("POST", "/api/devices", { token, body: { id: "unnamed", name } });
    assert.deepEqual([made.status, made.json.device.name], [201, "unnamed"], JSON.stringify(name));
    await rest.call("PUT", "/api/devices/unnamed", { token, body: { name: "Truck" } });
    const steps = [{ op: "replace", path: "/name", value: name }];
    const patched = await rest.call("PATCH", "/api/devices/unnamed", { token, body: steps });
    assert.deepEqual([patched.status, patched.json.device.name], [200, "unnamed"]);
    const put = await rest.call("PUT", "/api/devices/unnamed", { token, body: { name } });
    assert.deepEqual([put.status, put.json.device.name], [200, "unnamed"]);
    await rest.call("DELETE", "/api/devices/unnamed", { token });
  }
});

describe("bodies", () => {
  /** A call's refusal, which must be a bad request. */
  async function refusal(method: string, url: string, body?: string) {
    const headers = { "content-type": "application/json" };
    const answer = await rest.call(method, url, { token, headers, ...(body === undefined ? {} : { body }) });
    assert.equal(answer.status, 400, `${method} ${url} ${body}`);
    return [answer.json.error, answer.json.details];
  }

  test("what is refused of well-formed JSON, and where", async () => {
    const said = (where: string) => ["Bad Request", [`body${where}: no field may have this name`]];
    assert.deepEqual(await refusal("POST", "/api/devices", '{"id":"p","__proto__":{"x":1}}'), said("/__proto__"));
    assert.deepEqual(
      await refusal("POST", "/api/devices", '{"id":"p","tags":{"__proto__":"x"}}'),
      said("/tags/__proto__"),
    );
    assert.deepEqual(await refusal("POST", "/api/groups", '{"name":"n","constructor":{"prototype":1}}'), [
      "invalid input",
      ["body/constructor: must not hold a field named prototype"],
    ]);
    assert.deepEqual(await refusal("POST", "/api/devices", '{"id":"p"'), [
      "Bad Request",
      ["body: must be well-formed JSON"],
    ]);
    assert.deepEqual(await refusal("PATCH", "/api/devices/p", "{"), [
      "invalid patch operation",
      ["body: must be well-formed JSON"],
    ]);
    const marked = await rest.call("POST", "/api/devices", { token, body: '\ufeff{"id":"marked"}' });
    assert.equal(marked.status, 201);
  });

  test("a body of 1 MiB and a byte: the text that the call has for any bad body", async () => {
    const body = `"${"x".repeat(1_048_575)}"`;
    const calls = [
      ["POST", "/api/Auth/Token", "Bad Request"],
      ["POST", "/api/devices", "Bad Request"],
      ["PUT", "/api/devices/any/limits", "Bad Request"],
      ["PATCH", "/api/devices/any", "invalid patch operation"],
      ["POST", "/api/users", "invalid input"],
      ["PUT", "/api/users/any", "invalid input"],
      ["PATCH", "/api/users/any", "invalid patch operation"],
      ["POST", "/api/groups", "invalid input"],
      ["PATCH", "/api/groups/any", "invalid patch operation"],
    ] as const;
    for (const [method, url, error] of calls) {
      const answer = await rest.call(method, url, { token, body });
      assert.deepEqual([answer.status, answer.json.error], [400, error], url);
      assert.deepEqual(answer.json.details, ["body: is larger than the service takes"]);
      assert.equal("apiUsage" in answer.json, url !== "/api/Auth/Token");
    }
  });

  test("fields that a call does not have are warned of: a misspelt one would change its meaning in silence", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "warned" } });
    const range = { from: "2026-01-01", to: "2026-01-02" };
    for (const [url, body, name] of [
      ["/api/devices/warned/locations", { ...range, Limit: 1 }, "Limit"],
      ["/api/devices/warned/alerts", { ...range, alertname: "Speed" }, "alertname"],
    ] as const) {
      const answer = await rest.call("POST", url, { token, body });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json.warnings, [`body/${name}: not a field of this request; ignored`]);
      assert.equal("warnings" in (await rest.call("POST", url, { token, body: range })).json, false);
    }
    const url = "/api/devices/warned/limits";
    const { json } = await rest.call("PUT", url, { token, body: { dailySmsLimit: 3, dailyEMailLimit: 4 } });
    assert.deepEqual(json.warnings, ["body/dailyEMailLimit: not a field that can be set; ignored"]);
    // What was answered can be sent back.
    for (const [path, answered] of [
      [url, (await rest.call("GET", url, { token })).json],
      ["/api/devices/warned", (await rest.call("GET", "/api/devices/warned", { token })).json.device],
    ])
      assert.equal("warnings" in (await rest.call("PUT", path, { token, body: answered })).json, false, path);
  });

  test("a body that is not there is required", async () => {
    for (const [method, url, error] of [
      ["POST", "/api/devices", "Bad Request"],
      ["POST", "/api/Auth/Token", "Bad Request"],
      ["POST", "/api/users", "invalid input"],
      ["PATCH", "/api/devices/x", "invalid patch operation"],
    ] as const) {
      assert.deepEqual(await refusal(method, url), [error, ["body: is required"]]);
      const bare = await rest.call(method, url, { token });
      assert.deepEqual([bare.status, bare.json.details], [400, ["body: is required"]]);
    }
  });

  test("texts that are no texts are refused the same everywhere, and nothing is repaired", async () => {
    const half = "must not hold half of a surrogate pair";
    const nul = "must not hold NUL (U+0000)";
    await rest.call("POST", "/api/devices", { token, body: { id: "texts", tags: { a: "b" } } });
    const cases: [string, string, string, string, string[]][] = [
      [
        "POST",
        "/api/devices",
        String.raw`{"id":"t","name":"a\u0000","tags":{"\ud83d":"x","k":"\udc00"}}`,
        "Bad Request",
        [String.raw`body/tags/\ud83d: its name ${half}`, `body/tags/k: ${half}`],
      ],
      [
        "PUT",
        "/api/devices/texts",
        String.raw`{"name":"a\u0000","tags":{"\u0000":"x","k":"\u0000"},"unknown":"\u0000"}`,
        "Bad Request",
        [`body/name: ${nul}`, String.raw`body/tags/\u0000: its name ${nul}`, `body/tags/k: ${nul}`],
      ],
      [
        "PUT",
        "/api/devices/texts",
        String.raw`{"description":"\ud83dx"}`,
        "Bad Request",
        [`body/description: ${half}`],
      ],
      [
        "PATCH",
        "/api/devices/texts",
        String.raw`[{"op":"replace","path":"/name","value":"\udc00"},{"op":"add","path":"/tags/\ud83d","value":"x"}]`,
        "invalid patch operation",
        [`body/0/value: ${half}`, `body/1/path: ${half}`],
      ],
      ["POST", "/api/groups", String.raw`{"name":"\ud83d"}`, "invalid input", [`body/name: ${half}`]],
      [
        "POST",
        "/api/Auth/Token",
        String.raw`{"userName":"a\u0000","apiKey":"b"}`,
        "Bad Request",
        ["body/userName: must not hold NUL (U+0000)"],
      ],
    ];
    for (const [method, url, body, error, details] of cases)
      assert.deepEqual(await refusal(method, url, body), [error, details]);
    const kept = (await rest.call("GET", "/api/devices/texts", { token })).json.device;
    assert.deepEqual([kept.name, kept.tags], ["texts", { a: "b" }]);
    const whole = await rest.call("PUT", "/api/devices/texts", { token, body: String.raw`{"name":"\ud83d\ude9a"}` });
    assert.equal(whole.json.device.name, "🚚");
  });

  test("bytes that are not UTF-8 are refused", async () => {
    const payload = Buffer.concat([
      Buffer.from('{"id":"bytes","name":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await rest.http.inject({ method: "POST", url: "/api/devices", headers, payload });
    assert.equal(answer.statusCode, 400);
    assert.deepEqual(answer.json().details, ["body: must be UTF-8"]);
  });

  test("bodies that are nested too deeply are refused before they are read", async () => {
    const nested = (depth: number) => `{"name":"deep","x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    const answer = (depth: number) => rest.call("PUT", "/api/devices/texts", { token, body: nested(depth) });
    assert.equal((await answer(100)).status, 200);
    for (const depth of [101, 500_000]) {
      const { status, json } = await answer(depth);
      assert.deepEqual([status, json.details], [400, ["body: is nested too deeply"]]);
    }
  });

  test("all problems are told, not the first alone", async () => {
    const required = (...names: string[]) => names.map((name) => `body/${name}: is required`);
    assert.deepEqual(await refusal("POST", "/api/Auth/Token", "{}"), ["Bad Request", required("userName", "apiKey")]);
    assert.deepEqual(await refusal("POST", "/api/users", "{}"), [
      "invalid input",
      required("name", "email", "country", "timeZone"),
    ]);
    assert.deepEqual(await refusal("POST", "/api/devices", '{"id":"q","name":5,"tags":{"a":1}}'), [
      "Bad Request",
      ["body/name: must be string or null", "body/tags/a: must be string"],
    ]);
    const steps = JSON.stringify([
      { op: "add", path: "/name", value: 5 },
      { op: "add", path: "/milleageStart", value: -1 },
    ]);
    await rest.call("POST", "/api/devices", { token, body: { id: "many" } });
    for (let times = 0; times < 3; times++)
      assert.deepEqual(await refusal("PATCH", "/api/devices/many", steps), [
        "Bad Request",
        ["body/name: must be string or null", "body/milleageStart: must be >= 0"],
      ]);
    const [, details] = await refusal(
      "POST",
      "/api/groups",
      JSON.stringify({ name: "n", devices: Array(100).fill(1) }),
    );
    assert.equal(details.length, 20);
  });
});

describe("cursors of histories", () => {
  const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
  const ask = (id: string, body: object, list = "locations") =>
    rest.call("POST", `/api/devices/${id}/${list}`, { token, body });

  test("hold for their device, list and range alone; the range may be written otherwise", async () => {
    for (const id of ["paged", "unpaged"]) {
      await rest.call("POST", "/api/devices", { token, body: { id } });
      await rest.report(id, fix(0), fix(1), fix(2));
    }
    const cursor: string = (await ask("paged", { ...range, limit: 2 })).json.nextCursor;
    const next = await ask("paged", { from: "2026-01-01", to: "2026-01-02T01:00:00+01:00", cursor });
    assert.equal(next.json.locations.length, 1);
    const refused = [
      await ask("unpaged", { ...range, cursor }),
      await ask("paged", { ...range, to: "2026-01-03T00:00:00Z", cursor }),
      await ask("paged", {
        ...range,
        cursor: `${cursor.slice(0, 3)}${cursor[3] === "A" ? "B" : "A"}${cursor.slice(4)}`,
      }),
      await ask("paged", { ...range, cursor }, "alerts"),
    ];
    for (const { status, json } of refused)
      assert.deepEqual(
        [status, json.details],
        [400, ["body/cursor: must be the nextCursor of an answer for this device and range"]],
      );
  });
});
