import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Fix } from "../../src/model/effects.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const start = Date.UTC(2026, 0, 1);
const rule = { name: "Fast", type: "speedOver", parameters: { kmh: 80 } };
const range = { deviceId: "d", from: "2026-01-01T00:00:00Z", to: "2026-01-01T12:00:00Z" };
const count = 2500;

/** Over the limit at every thousandth fix. */
const fix = (index: number): Fix => ({
  type: "fix",
  time: start + index * 10_000,
  valid: true,
  latitude: 4.7 + index / 10_000,
  longitude: -74,
  speed: index % 1000 === 500 ? 90 : 40,
  course: 0,
  alarms: [],
  readings: {},
  attributes: {},
});

let rest: Rest;
let token: string;
/** Readings of the store still to succeed, and those that were. */
let allowed = Number.POSITIVE_INFINITY;
let reads = 0;
/** What the second reading waits for. */
let gate: Promise<void> = Promise.resolve();

before(async () => {
  rest = await startRest({
    limits: { requestsPerMinute: 100_000, dailyResults: 7000 },
    spoil: (store) => ({
      ...store,
      devices: store.devices,
      users: store.users,
      accounts: store.accounts,
      groups: store.groups,
      commands: store.commands,
      daily: store.daily,
      geofences: store.geofences,
      alertRules: store.alertRules,
      alerts: store.alerts,
      notices: store.notices,
      refused: store.refused,
      check: () => store.check(),
      close: () => store.close(),
      follow: store.follow,
      positions: {
        append: (batch) => store.positions.append(batch),
        unfollowed: (how) => store.positions.unfollowed(how),
        pending: (devices) => store.positions.pending(devices),
        left: (...asked) => store.positions.left(...asked),
        readEach: (...asked) => store.positions.readEach(...asked),
        followed: (place) => store.positions.followed(place),
        deleteBefore: (device, moment) => store.positions.deleteBefore(device, moment),
        figures: () => store.positions.figures(),
        close: () => store.positions.close(),
        render: (...asked) => store.positions.render(...asked),
        async read(...asked) {
          if (reads++ >= allowed) throw new StoreUnavailable("down");
          if (reads === 3) await gate;
          return store.positions.read(...asked);
        },
      },
    }),
  });
  token = await rest.ownerToken();
  await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
  await rest.report("d", ...Array.from({ length: count }, (_, index) => fix(index)));
});
after(() => endRest(rest));

async function attempt(body: object, as = token) {
  const answer = await rest.call("POST", "/api/alertRules/try", { token: as, body });
  const lines = answer.status === 200 ? answer.body.trimEnd().split("\n") : [];
  return { ...answer, lines: lines.map((line) => JSON.parse(line)) };
}

test("a trial tells alerts with their evidence, its progress and its end, and stores nothing", async () => {
  const { contentType, lines, json } = await attempt({ ...range, rule });
  assert.equal(contentType, "application/x-ndjson");
  const alerts = lines.filter((line) => "alert" in line).map((line) => line.alert);
  const raised = alerts.filter(({ phase }) => phase === "raised");
  assert.deepEqual(
    raised.map(({ dateTime, facts }) => [Date.parse(dateTime) - start, facts.value, facts.limit]),
    [500, 1500].map((index) => [index * 10_000, 90, 80]),
  );
  const progress = lines.filter((line) => "progress" in line);
  assert.ok(progress.length >= 3);
  assert.ok(progress.every((line, index) => line.progress >= (progress[index - 1]?.progress ?? 0)));
  assert.equal(progress.at(-1)?.positions, count);
  assert.deepEqual([json.done, json.success, json.error, json.positions], [true, true, null, count]);
  assert.equal(json.alerts, alerts.length);
  assert.ok(json.apiUsage > 0);
  const stored = await rest.call("POST", "/api/devices/d/alerts", { token, body: { from: range.from, to: range.to } });
  assert.deepEqual(stored.json.alerts, []);
  assert.deepEqual((await rest.call("GET", "/api/alertRules", { token })).json.rules, []);
});

test("a rule that is there can be tried by its id; the body's mistakes have their codes", async () => {
  const made = (await rest.call("POST", "/api/alertRules", { token, body: { ...rule, devices: ["other"] } })).json;
  const short = { ...range, to: range.from };
  const tried = await attempt({ ...short, ruleId: made.id, x: 1 });
  assert.deepEqual([tried.json.positions, tried.json.warnings], [1, ["body/x: not a field of this request; ignored"]]);
  const cases: [object, number, string][] = [
    [short, 400, "Bad Request"],
    [{ ...short, rule, ruleId: made.id }, 400, "Bad Request"],
    [{ ...range, from: range.to, to: range.from, rule }, 400, "Bad Request"],
    [{ ...short, rule: { name: "x" } }, 400, "Bad Request"],
    [{ ...short, rule: { ...rule, parameters: { kmh: -1 } } }, 400, "invalid input"],
    [{ ...short, deviceId: "x", rule }, 404, "device not found"],
    [{ ...short, ruleId: "x" }, 404, "alert rule not found"],
  ];
  for (const [body, status, error] of cases) {
    const answer = await attempt(body);
    assert.deepEqual([answer.status, answer.json.error], [status, error], JSON.stringify(body));
  }
  const holder = await rest.userToken({ deviceId: "d" });
  assert.equal((await attempt({ ...short, rule }, holder)).status, 200);
  assert.equal((await attempt({ ...short, ruleId: made.id }, holder)).status, 404);
  assert.equal((await attempt({ ...short, rule }, await rest.userToken({}))).status, 404);
});

test("a rule whose zone is gone finds nothing, and its trial says why", async () => {
  const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
  const zone = (await rest.call("POST", "/api/geofences", { token, body: { name: "Z", geometry } })).json;
  const body = { name: "Near", type: "forbiddenZone", parameters: { zones: [zone.id] }, devices: ["d"] };
  const { id: ruleId } = (await rest.call("POST", "/api/alertRules", { token, body })).json;
  const short = { ...range, to: range.from };
  assert.equal((await attempt({ ...short, ruleId })).status, 200);
  await rest.call("DELETE", `/api/geofences/${zone.id}`, { token });
  const { status, json } = await attempt({ ...short, ruleId });
  assert.deepEqual([status, json.error], [400, "invalid input"]);
  assert.deepEqual(json.details, [`rule/parameters/zones/0: there is no geofence ${zone.id}`]);
});

test("what fails before the stream is answered as always, what fails in it by the last line", async () => {
  reads = 0;
  allowed = 0;
  const early = await attempt({ ...range, rule });
  assert.deepEqual([early.status, early.json.error], [503, "Service Unavailable"]);
  reads = 0;
  allowed = 2;
  const { status, json, lines } = await attempt({ ...range, rule });
  assert.deepEqual([status, json.success, json.error], [200, false, "Service Unavailable"]);
  assert.ok(lines.some((line) => line.positions === 500));
  allowed = Number.POSITIVE_INFINITY;
});

test("a client that goes away ends the reading", async () => {
  const { port } = await rest.http.start();
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  reads = 0;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const asked = request({ host: "127.0.0.1", port, method: "POST", path: "/api/alertRules/try", headers });
  asked.on("error", () => {});
  asked.end(JSON.stringify({ ...range, from: "2025-01-01T00:00:00Z", rule }));
  const [response]: IncomingMessage[] = await once(asked, "response");
  assert.equal(response?.statusCode, 200);
  await once(response, "data");
  asked.socket?.resetAndDestroy();
  await setTimeout(200);
  opened.resolve();
  await setTimeout(200);
  assert.equal(reads, 3);
});

test("the positions count to the device's daily results, exactly", async () => {
  rest.clock.pass(86_400_000);
  token = await rest.ownerToken();
  for (let run = 0; run < 2; run++) assert.equal((await attempt({ ...range, rule })).json.done, true);
  const third = await attempt({ ...range, rule });
  assert.deepEqual([third.json.success, third.json.error], [false, "daily results limit reached"]);
  // 5000 were read, and of the third trial two pieces; what follows is not told, nor are its alerts.
  assert.equal(third.lines.at(-2).positions, 2000);
  assert.equal(third.lines.filter((line) => line.alert?.phase === "raised").length, 2);
  const fourth = await attempt({ ...range, rule });
  assert.deepEqual([fourth.status, fourth.json.error], [429, "daily results limit reached"]);
  assert.ok(Number(fourth.headers["retry-after"]) > 0);
});
