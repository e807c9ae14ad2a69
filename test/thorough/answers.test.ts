import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { failed, part } from "../support/answers.ts";
import { endRest, metricsToken, operatorKey, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

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
    // Whatever is sent there.
    for (const { type, body } of [
      { type: "application/json, text/html", body: "{}" },
      { type: "text/plain", body: "{}" },
      { type: "application/json", body: "{" },
    ]) {
      const headers = { "content-type": type };
      const answer = await rest.call("POST", "/api/nothing", { token, headers, body });
      assert.deepEqual(part(answer), failed("Not Found"), type);
      assert.ok(answer.json.apiUsage > first);
    }
    assert.equal((await rest.call("GET", "/api/devices/%zz", { token })).status, 400);
    for (const id of ["x".repeat(5000), "a%2Fb", "%00", "%F0%9F%9A%9A"])
      assert.deepEqual(part(await rest.call("GET", `/api/devices/${id}`, { token })), failed("device not found"), id);
    assert.equal((await rest.call("DELETE", "/api/devices", { token })).status, 404);
  });

  test("HEAD is answered as GET, and counted like it, without the body", async () => {
    // Lists that are whole texts, streamed texts and plain answers go three ways.
    for (const url of ["/api/devices", "/api/users", "/api/account", "/api/devices/unknown"]) {
      const get = await rest.http.inject({ method: "GET", url, headers: { authorization: `Bearer ${token}` } });
      const head = await rest.call("HEAD", url, { token });
      assert.deepEqual([head.status, head.body], [get.statusCode, ""], url);
      assert.equal(head.headers["content-type"], get.headers["content-type"], url);
    }
    const counted = async () => (await rest.call("GET", "/api/account", { token })).json.apiUsage;
    const before = await counted();
    await rest.call("HEAD", "/api/devices", { token });
    assert.equal(await counted(), before + 2);
    assert.equal((await rest.call("HEAD", "/api/devices")).status, 401);
    assert.equal((await rest.call("HEAD", "/api/devices/a/sendCommand", { token })).status, 404);
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
    rest.quarantine.add({
      cause: "unknown",
      ids: ["123456789012345"],
      protocol: "gt06",
      transport: "tcp",
      address: "192.0.2.1",
    });
    const { quarantine } = (await rest.call("GET", "/api/quarantine", { token })).json;
    assert.deepEqual(quarantine[0].ids, ["123456789012345"]);
    assert.equal(quarantine[0].attempts, 1);
  });

  test("the quarantine comes in pages; what knocks between two of them is neither missed by the others nor doubles them", async () => {
    const knock = (index: number) =>
      rest.quarantine.add({
        cause: "unknown",
        ids: [`page-${index}`],
        protocol: "gt06",
        transport: "tcp",
        address: `192.0.2.${index}`,
      });
    for (let index = 0; index < 7; index++) knock(index);
    const seen: string[] = [];
    for (let url = "/api/quarantine?limit=3", pages = 0; ; pages++) {
      const { status, json } = await rest.call("GET", url, { token: pages === 1 ? operatorKey : token });
      assert.equal(status, 200);
      assert.ok(json.quarantine.length <= 3);
      seen.push(...json.quarantine.map(({ ids }: { ids: string[] }) => ids[0]));
      if (json.nextCursor === undefined) break;
      // One that was told already comes again.
      knock(6);
      url = `/api/quarantine?limit=3&cursor=${json.nextCursor}`;
    }
    const paged = seen.filter((id) => id.startsWith("page-"));
    assert.deepEqual(paged, ["page-6", "page-5", "page-4", "page-3", "page-2", "page-1", "page-0"]);
    const other = await rest.call("GET", "/api/quarantine?cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", {
      token,
    });
    assert.equal(other.status, 400);
  });

  test("a knock belongs to nobody only until somebody registers its tracker", async () => {
    for (const id of ["knocker-1", "knocker-2"])
      rest.quarantine.add({ cause: "unknown", ids: [id], protocol: "gt06", transport: "tcp", address: "192.0.2.1" });
    await rest.call("POST", "/api/devices", { token, body: { id: "knocker-1", aliases: ["knocker-2"] } });
    const { quarantine } = (await rest.call("GET", "/api/quarantine", { token })).json;
    assert.ok(quarantine.every(({ ids }: { ids: string[] }) => !ids[0]?.startsWith("knocker")));
  });

  test("the trace of a device, on from the first question", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "traced" } });
    const ask = async (after: number) =>
      (await rest.call("POST", "/api/devices/traced/trace", { token, body: { after } })).json.entries;
    assert.deepEqual(await ask(0), []);
    const entry = {
      time: Date.UTC(2026, 0, 1),
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

  test("metrics, with their own token only", async () => {
    const get = (authorization: string) =>
      rest.http.inject({ method: "GET", url: "/metrics", headers: { authorization } });
    for (const wrong of ["", `Bearer ${token}`, `Bearer ${operatorKey}`, `Bearer ${metricsToken}x`]) {
      const { statusCode, json } = await get(wrong);
      assert.deepEqual([statusCode, json()], [401, failed("authentication failed, invalid token")]);
    }
    const { statusCode, headers, body } = await get(`Bearer ${metricsToken}`);
    assert.deepEqual([statusCode, headers["content-type"]], [200, "text/plain; version=0.0.4; charset=utf-8"]);
    assert.match(body, /waybeam_http_requests_total\{method="GET",route="\/api\/devices",code="200"\} \d/);
  });

  test("health, document and its page, without a token", async () => {
    for (const path of ["/health/live", "/health/ready"])
      assert.equal((await rest.call("GET", path)).status, 200, path);
    const document = await rest.http.inject({ method: "GET", url: "/openapi.json" });
    assert.equal(document.json().openapi, "3.1.0");
    assert.equal((await rest.http.inject({ method: "GET", url: "/docs" })).statusCode, 200);
  });
});
