import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, startRest } from "../support/rest.ts";

const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const fix = (index: number): Fix => ({
  type: "fix",
  time: Date.UTC(2026, 0, 1) + index * 1000,
  valid: true,
  latitude: 1,
  longitude: 2,
  alarms: [],
  readings: {},
  attributes: {},
});

describe("limits", () => {
  test("requests a minute for each user; each one is counted", async () => {
    const rest = await startRest({ limits: { requestsPerMinute: 3 } });
    const token = await rest.ownerToken();
    const codes: number[] = [];
    for (let index = 0; index < 5; index++) codes.push((await rest.call("GET", "/api/devices", { token })).status);
    assert.deepEqual(codes, [200, 200, 200, 429, 429]);
    const unknown = await rest.call("GET", "/api/devices/x", { token });
    assert.equal(unknown.json.error, "Too Many Requests");
    assert.equal(unknown.json.apiUsage, 7);
    assert.ok(Number(unknown.headers["retry-after"]) > 0 && Number(unknown.headers["retry-after"]) <= 60);
    assert.match(String(unknown.headers.ratelimit), /^"user";r=0;t=\d+$/);
    const other = await rest.userToken({});
    assert.equal((await rest.call("GET", "/api/devices", { token: other })).status, 200);
    rest.clock.pass(60_000);
    assert.equal((await rest.call("GET", "/api/devices", { token })).status, 200);
    await endRest(rest);
  });

  test("token requests a minute: all of an address; of a user name those with its key, and apart from them those with wrong ones", async () => {
    const rest = await startRest({ limits: { tokenRequestsPerMinute: 3 } });
    const ask = (body: unknown, from: string) => rest.call("POST", "/api/Auth/Token", { body, from });
    const own = { userName: rest.owner?.userName, apiKey: rest.owner?.apiKey };
    const guess = { userName: "OWNER@example.com", apiKey: "wrong" };
    // Malformed ones count too.
    assert.equal((await ask(guess, "192.0.2.1")).status, 401);
    assert.equal((await ask({}, "192.0.2.1")).status, 400);
    const third = await ask(guess, "192.0.2.1");
    assert.equal(third.headers["ratelimit-policy"], '"address";q=3;w=60, "name";q=3;w=60');
    assert.equal(third.headers.ratelimit, '"address";r=0;t=60, "name";r=1;t=60');
    const refused = await ask(own, "192.0.2.1");
    assert.deepEqual([refused.status, refused.json.error], [429, "Too Many Requests"]);
    assert.equal("apiUsage" in refused.json, false);
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    // Strangers use up what a name has for wrong keys, from any number of addresses ...
    assert.equal((await ask(guess, "192.0.2.2")).status, 401);
    const used = await ask(guess, "192.0.2.3");
    assert.deepEqual([used.status, used.json.error], [429, "Too Many Requests"]);
    // ... and nothing of what it has for its own.
    const granted = await ask(own, "192.0.2.4");
    assert.deepEqual([granted.status, granted.json.apiUsage], [200, 1]);
    assert.equal(granted.headers.ratelimit, '"address";r=2;t=60, "name";r=2;t=60');
    for (const from of ["192.0.2.5", "192.0.2.6"]) assert.equal((await ask(own, from)).status, 200);
    const often = await ask(own, "192.0.2.7");
    assert.deepEqual([often.status, often.json.apiUsage], [429, 4]);
    rest.clock.pass(60_000);
    assert.equal((await ask(own, "192.0.2.1")).status, 200);
    await endRest(rest);
  });

  test("IPv6 addresses are counted by /64, which a subscriber has for itself; IPv4 ones in whatever form they come", async () => {
    const rest = await startRest({ limits: { tokenRequestsPerMinute: 1 } });
    const ask = async (from: string) => (await rest.call("POST", "/api/Auth/Token", { body: {}, from })).status;
    assert.equal(await ask("2001:db8:1:2::1"), 400);
    assert.equal(await ask("2001:db8:1:2:ffff::9"), 429);
    assert.equal(await ask("2001:db8:1:3::1"), 400);
    assert.equal(await ask("192.0.2.1"), 400);
    assert.equal(await ask("::ffff:192.0.2.1"), 429);
    assert.equal(await ask("::ffff:192.0.2.2"), 400);
    await endRest(rest);
  });

  test("requests without a good token, by address; a good one from the same address is not limited", async () => {
    const rest = await startRest({ limits: { badTokensPerMinute: 4, tokenSeconds: 60 } });
    const expired = await rest.ownerToken();
    rest.clock.pass(120_000);
    const token = await rest.ownerToken();
    const forged = `${token.slice(0, -8)}AAAAAAAA`;
    const ask = async (sent?: string, from = "2001:db8::1") => {
      const { status, headers } = await rest.call("GET", "/api/devices", {
        from,
        ...(sent !== undefined && { token: sent }),
      });
      return status === 429 ? `429 after ${Number(headers["retry-after"]) > 0}` : status;
    };
    assert.deepEqual([await ask(), await ask("garbage"), await ask(forged), await ask(expired)], [401, 401, 401, 401]);
    for (const bad of [undefined, "garbage", forged, expired]) assert.equal(await ask(bad), "429 after true");
    assert.equal(await ask(token), 200);
    assert.equal(await ask("x", "2001:db8::ffff"), "429 after true", "the same /64");
    assert.equal(await ask("x", "2001:db8:0:1::1"), 401);
    rest.clock.pass(60_000);
    assert.equal(await ask("garbage"), 401);
    await endRest(rest);
  });

  test("a stranger's address is the one that a trusted proxy names, and nobody else's word is taken for it", async () => {
    const proxied = { trustProxy: "10.0.0.0/8, loopback", limits: { tokenRequestsPerMinute: 1 } };
    const rest = await startRest(proxied);
    const ask = async (from: string, forwarded?: string) => {
      const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
      return (await rest.call("POST", "/api/Auth/Token", { body: {}, from, headers })).status;
    };
    assert.equal(await ask("10.0.0.1", "192.0.2.1"), 400);
    assert.equal(await ask("10.0.0.2", "192.0.2.1"), 429);
    assert.equal(await ask("10.0.0.1", "192.0.2.2"), 400);
    // What the client itself wrote stands before what the proxies added.
    assert.equal(await ask("127.0.0.1", "198.51.100.1, 192.0.2.1, 10.0.0.9"), 429);
    assert.equal(await ask("203.0.113.1", "198.51.100.2"), 400);
    assert.equal(await ask("203.0.113.1", "198.51.100.3"), 429);
    // A proxy that passes on whatever it is given: its own address counts.
    assert.equal(await ask("10.0.0.7", "x".repeat(1000)), 400);
    assert.equal(await ask("10.0.0.7", "y".repeat(1000)), 429);
    await endRest(rest);
    const plain = await startRest({ limits: { tokenRequestsPerMinute: 1 } });
    const spoofed = { body: {}, headers: { "x-forwarded-for": "192.0.2.1" } };
    assert.equal((await plain.call("POST", "/api/Auth/Token", { body: {} })).status, 400);
    assert.equal((await plain.call("POST", "/api/Auth/Token", spoofed)).status, 429);
    await endRest(plain);
  });

  test("daily results of a device: a page ends with a cursor, then 429 until the next UTC day; also after a restart", async () => {
    let rest = await startRest({ limits: { dailyResults: 25 } });
    const { directory } = rest;
    let token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    await rest.report("d", ...Array.from({ length: 40 }, (_, index) => fix(index)));
    const ask = (fields: object) =>
      rest.call("POST", "/api/devices/d/locations", { token, body: { ...range, ...fields } });
    assert.equal((await ask({ limit: 10 })).json.locations.length, 10);
    const cut = (await ask({})).json;
    assert.equal(cut.locations.length, 15);
    assert.ok(cut.nextCursor);
    await rest.stop();
    rest = await startRest({ limits: { dailyResults: 25 }, directory });
    assert.equal(rest.owner, undefined);
    const refused = await ask({});
    assert.equal(refused.status, 429);
    assert.equal(refused.json.error, "daily results limit reached");
    const wait = Number(refused.headers["retry-after"]);
    assert.ok(wait > 0 && wait <= 86_400);
    rest.clock.pass(wait * 1000);
    token = await rest.userToken({ privileges: ["admin"] });
    const rest2 = (await ask({ cursor: cut.nextCursor })).json;
    assert.equal(rest2.locations.length, 25);
    assert.equal("nextCursor" in rest2, false);
    await endRest(rest);
  });

  test("readers at the same time never get more than the day has", async () => {
    const rest = await startRest({ limits: { dailyResults: 100 } });
    const token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    await rest.report("d", ...Array.from({ length: 60 }, (_, index) => fix(index)));
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => rest.call("POST", "/api/devices/d/locations", { token, body: range })),
    );
    const read = answers.reduce((sum, { json }) => sum + (json.locations?.length ?? 0), 0);
    assert.ok(read <= 100 && read >= 60, String(read));
    assert.ok(answers.some(({ status }) => status === 429));
    await endRest(rest);
  });

  test("usage counters are exact, and go on after a restart", async () => {
    let rest = await startRest();
    const { directory } = rest;
    const token = await rest.ownerToken();
    await Promise.all(Array.from({ length: 50 }, () => rest.call("GET", "/api/devices", { token })));
    await rest.stop();
    rest = await startRest({ directory });
    const { json } = await rest.call("GET", "/api/devices", { token });
    assert.deepEqual([json.apiUsage, json.apiDailyUsage], [52, 52]);
    rest.clock.pass(86_400_000 - 3_600_000);
    const later = await rest.call("GET", "/api/devices", { token });
    assert.equal(later.json.apiUsage, 53);
    await endRest(rest);
  });
});
