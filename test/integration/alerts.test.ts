import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { commitAlerts, newAlert, newNotice, sms, webhook } from "../contract/store/alert-values.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const path = "/api/devices/d/alerts";

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  token = await rest.ownerToken();
  assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "d" } })).status, 201);
});
after(() => endRest(rest));

test("a device that raised no alerts has none, in the shape of the call", async () => {
  for (const body of [range, { ...range, alertName: "Speed", limit: 10 }, { from: range.from, to: range.from }]) {
    const { status, json } = await rest.call("POST", path, { token, body });
    assert.equal(status, 200);
    assert.deepEqual(json.alerts, []);
    assert.equal("nextCursor" in json, false);
    assert.ok(json.apiUsage > 0);
  }
});

test("alerts tell what happened, where, and who was told", async () => {
  const created = await rest.call("POST", "/api/devices", { token, body: { id: "told" } });
  assert.equal(created.status, 201);
  const device = (await rest.store.devices.find("told"))?.key ?? 0;
  const first = newAlert(device, 1, { facts: { value: 92, limit: 80, road: "ñ" } });
  const second = newAlert(device, 2, { name: "Offline", critical: true, late: true, latitude: null, longitude: null });
  const notices = [newNotice(first), newNotice(first, { target: webhook }), newNotice(first, { target: sms })];
  await commitAlerts(rest.store, device, [first, second], notices);
  for (const { id } of notices.slice(0, 2)) {
    const notice = await rest.store.notices.find(device, id);
    assert.equal(await rest.store.notices.claim(notice?.key ?? 0, 1, undefined), "claimed");
    await rest.store.notices.finish(notice?.key ?? 0, { state: "sent", reason: null, peerId: null, dueAt: 0 }, 2);
  }
  const asked = { token, body: { ...range, limit: 1 } };
  const { json } = await rest.call("POST", "/api/devices/told/alerts", asked);
  assert.deepEqual(json.alerts, [
    {
      dateTime: new Date(first.time).toISOString(),
      latitude: 4.5,
      longitude: -74.1,
      text: first.text,
      notifications: ["Email", "Webhook"],
      alerts: ["Speed"],
      id: first.id,
      ruleId: "rule-1",
      type: "speedOver",
      phase: "raised",
      critical: false,
      late: false,
      raisedAt: new Date(first.raisedAt).toISOString(),
      facts: { value: 92, limit: 80, road: "ñ" },
      state: "open",
    },
  ]);
  const next = { token, body: { ...range, cursor: json.nextCursor } };
  const following = await rest.call("POST", "/api/devices/told/alerts", next);
  assert.equal(following.json.alerts.length, 1);
  assert.equal("latitude" in following.json.alerts[0], false);
  assert.equal("nextCursor" in following.json, false);
  const named = await rest.call("POST", "/api/devices/told/alerts", {
    token,
    body: { ...range, alertName: "Offline" },
  });
  assert.deepEqual(named.json.alerts, following.json.alerts);
});

test("what is refused is what locations refuses, in the same words", async () => {
  for (const body of [
    {},
    [],
    "{",
    { from: range.to, to: range.from },
    { ...range, from: "yesterday" },
    { ...range, to: "0000-01-01T00:00:00Z" },
    { ...range, limit: 0 },
    { ...range, cursor: "no cursor" },
    { from: range.from },
  ]) {
    const alerts = await rest.call("POST", path, { token, body });
    const locations = await rest.call("POST", "/api/devices/d/locations", { token, body });
    assert.deepEqual([alerts.status, alerts.json.error], [400, "Bad Request"], JSON.stringify(body));
    assert.deepEqual(alerts.json.details, locations.json.details);
  }
  const named = await rest.call("POST", path, { token, body: { ...range, alertName: 1 } });
  assert.deepEqual(named.json.details, ["body/alertName: must be string"]);
});

test("only who sees the device sees its alerts", async () => {
  const holder = await rest.userToken({ deviceId: "d" });
  assert.equal((await rest.call("POST", path, { token: holder, body: range })).status, 200);
  const other = await rest.userToken({ privileges: ["read"] });
  const unseen = await rest.call("POST", path, { token: other, body: range });
  assert.deepEqual([unseen.status, unseen.json.error], [404, "device not found"]);
  assert.equal((await rest.call("POST", path, { body: range })).status, 401);
});
