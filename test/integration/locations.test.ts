import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { runBehindStore } from "../support/engine.ts";
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
    await rest.report("tracked", { ...fix(0), time: rest.clock.now() });
    await rest.report("tracked", { ...fix(0), time: rest.clock.now() + 86_400_000 });
    const { refused } = (await rest.call("GET", `${path}/refused`, { token })).json;
    assert.equal(refused.length, 1);
    assert.equal(refused[0].cause, "future");
    assert.equal(refused[0].report.latitude, 4.711);
    // One whose text is damaged is told as it stands, and hides no other one.
    await runBehindStore(rest.directory, "update refused set report = substr(report, 3)");
    const damaged = await rest.call("GET", `${path}/refused`, { token });
    assert.equal(damaged.status, 200);
    assert.equal(typeof damaged.json.refused[0].report, "string");
  });
});
