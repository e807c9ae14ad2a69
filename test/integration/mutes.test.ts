import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let owner: string;
let ruleId: string;
const hour = 3_600_000;
const inHours = (hours: number) => new Date(rest.clock.now() + hours * hour).toISOString();

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  owner = await rest.ownerToken();
  for (const id of ["truck", "van"])
    assert.equal(
      (await rest.call("POST", "/api/devices", { token: owner, body: { id, name: `The ${id}` } })).status,
      201,
    );
  const body = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["truck", "van"] };
  ruleId = (await rest.call("POST", "/api/alertRules", { token: owner, body })).json.id;
});
after(() => endRest(rest));

async function get(url: string, token = owner) {
  const { status, json } = await rest.call("GET", url, { token });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

async function mute(url: string, body: object, token = owner) {
  return rest.call("PUT", `/api/${url}/mute`, { token, body });
}

test("mutes of a device and a rule are shown, and end by hand or by themselves", async () => {
  const [from, until] = [rest.clock.now(), inHours(2)];
  const { status, json } = await mute("devices/truck", { until, note: "in the workshop" });
  assert.equal(status, 200);
  const { since, ...asked } = json.mute;
  assert.deepEqual(asked, { until, user: rest.owner?.userName, note: "in the workshop", critical: false });
  assert.ok(Date.parse(since) >= from && Date.parse(since) <= rest.clock.now());
  const shown = json.mute;
  assert.deepEqual((await get("/api/devices/truck/mute")).mute, shown);
  assert.equal((await get("/api/devices/van/mute")).mute, null);
  const ofRule = (await mute(`alertRules/${ruleId}`, { until: inHours(1), critical: true })).json.mute;
  assert.deepEqual((await get(`/api/alertRules/${ruleId}`)).mute, ofRule);
  assert.deepEqual((await get("/api/alertRules")).rules[0].mute, ofRule);
  assert.deepEqual((await get("/api/devices/truck/alertRules")).rules[0].mute, ofRule);
  assert.deepEqual((await get("/api/mutes")).mutes, [
    { deviceId: "truck", name: "The truck", ...shown },
    { ruleId, name: "Speed", ...ofRule },
  ]);
  const month = inHours(720);
  const longer = (await mute("devices/truck", { until: month })).json.mute;
  assert.deepEqual([longer.until, longer.note], [month, null]);
  rest.clock.pass(hour);
  assert.equal((await get(`/api/alertRules/${ruleId}/mute`)).mute, null);
  assert.equal((await get(`/api/alertRules/${ruleId}`)).mute, null);
  assert.equal((await get("/api/mutes")).mutes.length, 1);
  for (let time = 0; time < 2; time++)
    assert.equal((await rest.call("DELETE", "/api/devices/truck/mute", { token: owner })).status, 200);
  assert.deepEqual((await get("/api/mutes")).mutes, []);
});

test("a rule keeps its mute when it is changed; its copy has none", async () => {
  await mute(`alertRules/${ruleId}`, { until: inHours(5) });
  const { mute: shown, ...rule } = await get(`/api/alertRules/${ruleId}`);
  const body = Object.fromEntries(
    Object.entries(rule).filter(([name]) => !["apiUsage", "apiDailyUsage"].includes(name)),
  );
  const { success: _success, error: _error, ...sent } = body;
  const replaced = await rest.call("PUT", `/api/alertRules/${ruleId}`, { token: owner, body: { ...sent, mute: null } });
  assert.equal(replaced.status, 200, replaced.body);
  assert.deepEqual(replaced.json.mute, shown);
  assert.equal(replaced.json.warnings, undefined);
  const copied = await rest.call("POST", `/api/alertRules/${ruleId}/copy`, {
    token: owner,
    body: { devices: ["van"] },
  });
  assert.equal(copied.json.mute, null);
  await rest.call("DELETE", `/api/alertRules/${ruleId}/mute`, { token: owner });
});

test("a patch of a rule sees the mute that is shown", async () => {
  const shown = (await mute(`alertRules/${ruleId}`, { until: inHours(5) })).json.mute;
  const patch = (value: unknown) =>
    rest.call("PATCH", `/api/alertRules/${ruleId}`, {
      token: owner,
      body: [
        { op: "test", path: "/mute", value },
        { op: "replace", path: "/critical", value: true },
      ],
    });
  assert.notEqual((await patch(null)).status, 200);
  const { status, json } = await patch(shown);
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual([json.mute, json.critical], [shown, true]);
  const put = await rest.call("PUT", `/api/alertRules/${ruleId}`, {
    token: owner,
    body: { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["truck", "van"], mute: shown },
  });
  assert.deepEqual([put.status, put.json.mute], [200, shown]);
  await rest.call("DELETE", `/api/alertRules/${ruleId}/mute`, { token: owner });
});

test("the longest mute is that of a client whose clock is a little ahead too", async () => {
  assert.equal((await mute("devices/van", { until: inHours(720 + 0.9 / 60) })).status, 200);
  assert.equal((await mute("devices/van", { until: inHours(720 + 5 / 60) })).status, 400);
  await rest.call("DELETE", "/api/devices/van/mute", { token: owner });
});

test("a mute that makes no sense is refused with the reason", async () => {
  for (const [body, reason] of [
    [{ until: inHours(0) }, "body/until: must be in the future"],
    [{ until: inHours(-1) }, "body/until: must be in the future"],
    [{ until: inHours(721) }, "body/until: must be at most 30 days ahead"],
    [{ until: "tomorrow" }, undefined],
    [{}, undefined],
    [{ until: inHours(1), note: "x".repeat(2001) }, undefined],
    [{ until: inHours(1), critical: "yes" }, undefined],
  ] as const) {
    const { status, json } = await mute("devices/truck", body);
    assert.equal(status, 400, JSON.stringify(json));
    if (reason !== undefined) assert.deepEqual(json.details, [reason]);
  }
  assert.equal((await mute("devices/nothing", { until: inHours(1) })).status, 404);
  assert.equal((await mute("alertRules/nothing", { until: inHours(1) })).status, 404);
  assert.deepEqual((await get("/api/mutes")).mutes, []);
});

test("a user sees and changes the mutes of the devices and rules that the user sees", async () => {
  const token = await rest.userToken({ privileges: ["write"], deviceId: "van" });
  await mute("devices/truck", { until: inHours(1) });
  await mute(`alertRules/${ruleId}`, { until: inHours(1) });
  assert.deepEqual((await get("/api/mutes", token)).mutes, []);
  assert.equal((await mute("devices/truck", { until: inHours(1) }, token)).status, 404);
  assert.equal((await mute(`alertRules/${ruleId}`, { until: inHours(1) }, token)).status, 404);
  assert.equal((await mute("devices/van", { until: inHours(1) }, token)).status, 200);
  assert.deepEqual(
    (await get("/api/mutes", token)).mutes.map(({ deviceId }: { deviceId?: string }) => deviceId),
    ["van"],
  );
  assert.equal((await get("/api/mutes?limit=1")).mutes.length, 1);
  assert.equal((await rest.call("DELETE", "/api/devices/truck", { token: owner })).status, 200);
  assert.equal((await rest.call("DELETE", `/api/alertRules/${ruleId}`, { token: owner })).status, 200);
  assert.deepEqual(
    (await get("/api/mutes")).mutes.map(({ deviceId }: { deviceId?: string }) => deviceId),
    ["van"],
  );
});
