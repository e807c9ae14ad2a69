import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const start = Date.UTC(2026, 0, 1);
const fix = (index: number): Fix => ({
  type: "fix",
  time: start + index * 1000,
  valid: true,
  latitude: 4.711 + index / 100_000,
  longitude: -74.0721,
  speed: 42.5,
  course: 181,
  alarms: [],
  readings: { battery: 85, input1: true, satellites: 9 },
  attributes: { note: 'a "quoted" text' },
});

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

const failed = (error: string) => ({ success: false, error });
const part = ({ json }: { json: { success: boolean; error: string | null } }) => ({
  success: json.success,
  error: json.error,
});

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
    rest.bus.publish({ type: "userChanged", key: user.key });
    assert.deepEqual((await rest.call("GET", "/api/devices", { token: replaced })).json, invalid);
    await rest.store.users.setApiKey(user.key, null, rest.clock.now());
    rest.bus.publish({ type: "userChanged", key: user.key });
    assert.deepEqual((await rest.call("GET", "/api/devices", { token: replaced })).json, invalid);
  });
});

describe("devices", () => {
  test("created, listed, read, replaced, patched, deleted", async () => {
    const device = {
      id: "CaSe-1",
      name: "Truck",
      description: "d",
      min: "+573001234567",
      tags: { plate: "ABC-123" },
      expires: "2099-01-01T00:00:00.000Z",
      aliases: ["alias-1"],
      milleageStart: 12.5,
    };
    const created = await rest.call("POST", "/api/devices", {
      token,
      body: { ...device, expires: "2099-01-01T01:00:00+01:00" },
    });
    assert.equal(created.status, 201);
    assert.equal(created.headers.location, "/api/devices/CaSe-1");
    assert.deepEqual(created.json.device, device);
    const path = "/API/Devices/CaSe-1";
    assert.deepEqual((await rest.call("GET", path, { token })).json.device, device);
    assert.deepEqual(
      (await rest.call("GET", "/api/devices", { token })).json.devices.find(
        ({ id }: { id: string }) => id === "CaSe-1",
      ),
      device,
    );

    const again = await rest.call("POST", "/api/devices", { token, body: { id: "CaSe-1" } });
    assert.equal(again.status, 409);
    assert.deepEqual(part(again), failed("device already exists"));
    const alias = await rest.call("POST", "/api/devices", { token, body: { id: "other", aliases: ["alias-1"] } });
    assert.equal(alias.status, 409);

    const patched = await rest.call("PATCH", path, {
      token,
      body: [
        { op: "test", path: "/name", value: "Truck" },
        { op: "replace", path: "/name", value: "Van" },
        { op: "add", path: "/tags/a~1b", value: "c" },
        { op: "remove", path: "/expires" },
      ],
    });
    assert.equal(patched.status, 200);
    assert.deepEqual(patched.json.device, {
      ...device,
      name: "Van",
      tags: { plate: "ABC-123", "a/b": "c" },
      expires: null,
    });

    const replaced = await rest.call("PUT", path, { token, body: { name: "Bus", id: "CaSe-1" } });
    assert.deepEqual(replaced.json.device, {
      id: "CaSe-1",
      name: "Bus",
      description: null,
      min: null,
      tags: {},
      expires: null,
      aliases: [],
      milleageStart: 0,
    });
    assert.equal("warnings" in replaced.json, false);
    assert.equal((await rest.call("PUT", path, { token, body: { Name: "Bus" } })).json.warnings.length, 1);
    assert.equal((await rest.call("GET", path, { token })).json.device.name, "CaSe-1");

    const removed = await rest.call("DELETE", path, { token, headers: { "content-type": "application/json" } });
    assert.equal(removed.status, 200);
    assert.deepEqual(Object.keys(removed.json).toSorted(), ["apiDailyUsage", "apiUsage", "error", "success"]);
    for (const method of ["GET", "DELETE"])
      assert.deepEqual(part(await rest.call(method, path, { token })), failed("device not found"));
  });

  test("the case of an id matters", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "MixedCase" } });
    assert.equal((await rest.call("GET", "/api/DEVICES/MixedCase/", { token })).status, 200);
    assert.equal((await rest.call("GET", "/api/devices/mixedcase", { token })).status, 404);
  });

  test("bad input says what and where", async () => {
    const cases: [object, string][] = [
      [{}, "body/id: is required"],
      [{ id: "a b" }, "body/id: must match"],
      [{ id: "" }, "body/id: must match"],
      [{ id: "x".repeat(65) }, "body/id: must match"],
      [{ id: 5 }, "body/id: must be string"],
      [{ id: "q", name: 5 }, "body/name: must be string or null"],
      [{ id: "q", tags: { a: 1 } }, "body/tags/a: must be string"],
      [{ id: "q", expires: "tomorrow" }, "body/expires: must be an RFC 3339 date-time"],
      [{ id: "q", expires: "2026-02-30T00:00:00Z" }, "body/expires: must be an RFC 3339 date-time"],
      [{ id: "q", aliases: ["a", "a"] }, "body/aliases: must not have the same item twice"],
      [{ id: "q", milleageStart: -1 }, "body/milleageStart: must be >= 0"],
      [{ id: "q", min: "call me" }, "body/min: must match"],
    ];
    for (const [body, detail] of cases) {
      const answer = await rest.call("POST", "/api/devices", { token, body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.error, "Bad Request");
      assert.ok(answer.json.details[0].startsWith(detail), answer.json.details[0]);
    }
  });

  test("patches: malformed 400, a test that fails 409, a bad result as for PUT; nothing of them stays", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "patched" } });
    const patch = (body: unknown) => rest.call("PATCH", "/api/devices/patched", { token, body });
    const malformed: unknown[] = [
      {},
      "",
      "{",
      "null",
      [{ op: "jump", path: "/name" }],
      [{ op: "add", path: "/nothing", value: 1 }],
      [{ op: "replace", path: "/id", value: "x" }],
      [{ op: "remove", path: "/tags/none" }],
      [
        { op: "replace", path: "/name", value: "x" },
        { op: "add", path: "/name" },
      ],
    ];
    for (const body of malformed) {
      const answer = await patch(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.error, "invalid patch operation");
    }
    const conflict = await patch([
      { op: "replace", path: "/name", value: "x" },
      { op: "test", path: "/name", value: "y" },
    ]);
    assert.equal(conflict.status, 409);
    assert.deepEqual(part(conflict), failed("patch test failed"));
    const result = await patch([{ op: "replace", path: "/expires", value: "soon" }]);
    assert.deepEqual(part(result), failed("Bad Request"));
    assert.equal((await rest.call("GET", "/api/devices/patched", { token })).json.device.name, "patched");
    const many = await Promise.all(
      Array.from({ length: 10 }, (_, index) => patch([{ op: "add", path: `/tags/${index}`, value: "x" }])),
    );
    assert.ok(many.every(({ status }) => status === 200));
    assert.equal(Object.keys((await rest.call("GET", "/api/devices/patched", { token })).json.device.tags).length, 10);
  });

  test("limits, licences and expiry", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "limited" } });
    const path = "/api/devices/limited/limits";
    const defaults = { expires: null, dailyEmailLimit: 50, dailySmsLimit: 10, emailsSentToday: 0, smsSentToday: 0 };
    const {
      success: _s,
      error: _e,
      apiUsage: _u,
      apiDailyUsage: _d,
      ...fields
    } = (await rest.call("GET", path, { token })).json;
    assert.deepEqual(fields, defaults);
    const expired = await rest.call("PUT", path, { token, body: { expires: "2020-01-01T00:00:00", dailySmsLimit: 0 } });
    assert.equal(expired.json.expires, "2020-01-01T00:00:00.000Z");
    assert.equal(expired.json.dailySmsLimit, 0);
    const listed = (await rest.call("GET", "/api/devices", { token })).json.devices.map(({ id }: { id: string }) => id);
    assert.ok(!listed.includes("limited"));
    assert.equal((await rest.call("GET", "/api/devices/limited", { token })).status, 200);
    assert.equal((await rest.call("PUT", path, { token, body: { dailySmsLimit: -1 } })).status, 400);

    const { total, used, free } = (await rest.call("GET", "/api/account", { token })).json.licenses;
    assert.equal(free, total - used);
    for (let index = 0; index < free; index++)
      assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: `filler-${index}` } })).status, 201);
    for (const [method, url, body] of [
      ["POST", "/api/devices", { id: "one-too-many" }],
      ["PUT", path, {}],
      ["PUT", "/api/devices/limited", {}],
      ["PATCH", "/api/devices/limited", [{ op: "replace", path: "/expires", value: null }]],
    ] as const) {
      const answer = await rest.call(method, url, { token, body });
      assert.equal(answer.status, 409, `${method} ${url}`);
      assert.deepEqual(part(answer), failed("no license available"));
    }
    for (let index = 0; index < free; index++) await rest.call("DELETE", `/api/devices/filler-${index}`, { token });
    assert.equal((await rest.call("PUT", path, { token, body: {} })).json.expires, null);
  });
});

describe("locations", () => {
  const path = "/api/devices/tracked";
  const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-01T23:59:59.999Z" };

  before(async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "tracked", milleageStart: 1000 } });
    await rest.call("POST", "/api/devices", { token, body: { id: "silent" } });
    await rest.report("tracked", ...Array.from({ length: 2500 }, (_, index) => fix(index)));
  });

  test("the last one, nested; null before the first", async () => {
    const { lastLocation } = (await rest.call("GET", `${path}/lastlocation`, { token })).json;
    assert.equal(lastLocation.dateTime, new Date(start + 2_499_000).toISOString());
    assert.equal(lastLocation.speed, 42.5);
    assert.equal(lastLocation.battery, 85);
    assert.deepEqual(lastLocation.inputs, [true]);
    assert.equal(lastLocation.attributes.note, 'a "quoted" text');
    assert.ok(lastLocation.milleage > 1002.5 && lastLocation.milleage < 1003, String(lastLocation.milleage));
    assert.equal((await rest.call("GET", "/api/devices/silent/lastLocation", { token })).json.lastLocation, null);
  });

  test("a changed milleage start shows at once", async () => {
    const before = (await rest.call("GET", `${path}/lastLocation`, { token })).json.lastLocation.milleage;
    await rest.call("PATCH", path, { token, body: [{ op: "replace", path: "/milleageStart", value: 0 }] });
    const changed = (await rest.call("GET", `${path}/lastLocation`, { token })).json.lastLocation.milleage;
    assert.ok(Math.abs(before - changed - 1000) < 0.01, `${before} ${changed}`);
  });

  test("a range, inclusive at both ends; pages by cursor are the same as the whole", async () => {
    const whole = (await rest.call("POST", `${path}/locations`, { token, body: range })).json;
    assert.equal(whole.locations.length, 2500);
    assert.equal("nextCursor" in whole, false);
    const ends = { from: "2026-01-01T00:00:10", to: "2026-01-01T01:00:12+01:00" };
    const some = (await rest.call("POST", `${path}/locations`, { token, body: ends })).json.locations;
    assert.deepEqual(some, whole.locations.slice(10, 13));
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const body = { ...range, limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const page = (await rest.call("POST", `${path}/locations`, { token, body })).json;
      pages.push(...page.locations);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(pages, whole.locations);
    const exact = (await rest.call("POST", `${path}/locations`, { token, body: { ...range, limit: 2500 } })).json;
    assert.equal("nextCursor" in exact, false);
    const none = (await rest.call("POST", "/api/devices/silent/locations", { token, body: range })).json;
    assert.deepEqual(none.locations, []);
  });

  test("bad ranges", async () => {
    const cases: [unknown, string][] = [
      [{ to: range.to }, "body/from: is required"],
      [{ from: range.from }, "body/to: is required"],
      [{ from: "yesterday", to: range.to }, "body/from: must be an RFC 3339 date-time"],
      [{ from: 5, to: range.to }, "body/from: must be string"],
      [{ from: range.to, to: range.from }, "body/to: must not be before body/from"],
      [{ ...range, limit: 0 }, "body/limit: must be >= 1"],
      [{ ...range, limit: 1.5 }, "body/limit: must be integer"],
      [{ ...range, cursor: "x" }, "body/cursor: must be the nextCursor of an answer for this device and range"],
      [[], "body: must be object"],
      ["", "body: is required"],
    ];
    for (const [body, detail] of cases) {
      const answer = await rest.call("POST", `${path}/locations`, { token, body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.error, "Bad Request");
      assert.deepEqual(answer.json.details, [detail]);
    }
  });

  test("reports that can't be right are kept as evidence", async () => {
    await rest.report("tracked", { ...fix(0), time: rest.clock.now() + 86_400_000 });
    const { refused } = (await rest.call("GET", `${path}/refused`, { token })).json;
    assert.equal(refused.length, 1);
    assert.equal(refused[0].cause, "future");
    assert.equal(refused[0].report.latitude, 4.711);
  });
});

describe("what every answer has", () => {
  test("the envelope and the counters, on unknown paths and wrong methods too", async () => {
    const usage = async (method: string, url: string) => (await rest.call(method, url, { token })).json;
    const first = (await usage("GET", "/api/devices")).apiUsage;
    for (const [index, [method, url]] of [
      ["GET", "/api/nothing"],
      ["GET", "/api"],
      ["PUT", "/api/devices"],
      ["GET", "/api/Auth/Token"],
      ["POST", "/api/devices/x"],
      ["OPTIONS", "/api/devices"],
      ["GET", "/api/devices/x/locations"],
      ["GET", "/nothing"],
    ].entries()) {
      const answer = await usage(method ?? "", url ?? "");
      assert.deepEqual(
        { ...failed("Not Found"), apiUsage: first + index + 1 },
        { success: answer.success, error: answer.error, apiUsage: answer.apiUsage },
        `${method} ${url}`,
      );
    }
    assert.deepEqual((await rest.call("GET", "/api/nothing")).json, failed("Not Found"));
    assert.equal((await rest.call("GET", "/api/devices/%zz", { token })).status, 400);
    for (const id of ["x".repeat(5000), "a%2Fb", "%00", "%F0%9F%9A%9A"])
      assert.deepEqual(part(await rest.call("GET", `/api/devices/${id}`, { token })), failed("device not found"), id);
    assert.equal((await rest.call("HEAD", "/api/devices", { token })).status, 404);
  });

  test("a body over the limit is a bad request, also for a known user", async () => {
    const answer = await rest.call("POST", "/api/devices", { token, body: { id: "big", name: "x".repeat(1_048_577) } });
    assert.equal(answer.status, 400);
    assert.deepEqual(part(answer), failed("Bad Request"));
    assert.ok(answer.json.apiUsage > 0);
  });

  test("objects that reach for prototypes are bad requests", async () => {
    for (const body of ['{"id":"p","__proto__":{"x":1}}', '{"id":"p","tags":{"constructor":{"prototype":{}}}}'])
      assert.equal((await rest.call("POST", "/api/devices", { token, body })).status, 400, body);
  });

  test("a request id: the caller's where it is fit for a log, else a new one", async () => {
    const idOf = async (headers: Record<string, string>) =>
      (await rest.call("GET", "/api/devices", { token, headers })).headers["x-request-id"];
    assert.equal(await idOf({ "x-request-id": "abc-1" }), "abc-1");
    assert.notEqual(await idOf({}), await idOf({}));
    assert.match(String(await idOf({ "x-request-id": "a b\tc" })), /^[\w-]+$/);
  });

  test("what is left of the minute", async () => {
    const { headers } = await rest.call("GET", "/api/devices", { token });
    assert.match(String(headers["ratelimit-policy"]), /^"user";q=100000;w=60$/);
    assert.match(String(headers.ratelimit), /^"user";r=\d+;t=\d+$/);
  });
});

describe("operation", () => {
  test("quarantine, for those who run the service", async () => {
    rest.quarantine.add(["123456789012345"], "gt06", "192.0.2.1");
    const { quarantine } = (await rest.call("GET", "/api/quarantine", { token })).json;
    assert.deepEqual(quarantine[0].ids, ["123456789012345"]);
    assert.equal(quarantine[0].attempts, 1);
  });

  test("the trace of a device, on from the first question", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "traced" } });
    const ask = async (after: number) =>
      (await rest.call("POST", "/api/devices/traced/trace", { token, body: { after } })).json.entries;
    assert.deepEqual(await ask(0), []);
    const entry = {
      time: start,
      connection: "c1",
      protocol: "gt06",
      address: "192.0.2.1",
      message: "7878",
      cut: false,
      effects: [{ type: "ignored", reason: "r" }],
      outcome: "stored",
    };
    rest.trace.add("traced", entry);
    const [shown] = await ask(0);
    const { time: _, ...rests } = entry;
    assert.deepEqual(shown, { ...rests, seq: shown.seq, dateTime: "2026-01-01T00:00:00.000Z" });
    assert.deepEqual(await ask(shown.seq), []);
  });

  test("health, metrics, document and its page, without a token", async () => {
    for (const path of ["/health/live", "/health/ready", "/metrics"])
      assert.equal((await rest.call("GET", path)).status, 200, path);
    assert.match(
      (await rest.call("GET", "/metrics")).body,
      /waybeam_http_requests_total\{method="GET",route="\/api\/devices",code="200"\} \d/,
    );
    const document = await rest.http.inject({ method: "GET", url: "/openapi.json" });
    assert.equal(document.json().openapi, "3.1.0");
    assert.equal((await rest.http.inject({ method: "GET", url: "/docs" })).statusCode, 200);
  });
});
