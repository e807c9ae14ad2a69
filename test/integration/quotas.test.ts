import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Quotas } from "../../src/model/quotas.ts";
import { endRest, operatorKey, startRest } from "../support/rest.ts";

const quotas: Quotas = {
  users: 3,
  groups: 3,
  geofences: 3,
  rules: 4,
  rulesOfDevice: 2,
  webhooks: 3,
  bytes: 100_000,
};

async function start(t: TestContext, changes: Partial<Quotas> = {}) {
  const rest = await startRest({ quotas: { ...quotas, ...changes } });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const send = (method: string, url: string, body?: unknown) => rest.call(method, url, { token, body });
  const post = (url: string, body: unknown) => send("POST", url, body);
  const use = async () => (await send("GET", "/api/account")).json.quotas;
  return { rest, send, post, use };
}

const user = (index: number) => ({
  name: "A",
  email: `u${index}@example.com`,
  country: "CO",
  timeZone: "America/Bogota",
});
const point = { type: "Point", coordinates: [0, 0], radius: 1 };
const hook = (index: number) => ({ url: `https://example.com/${index}`, secret: "0123456789abcdef" });

test("of each no more than the quota, however many requests come at once, and as many again when some are gone", async (t) => {
  const { send, post, use } = await start(t, { rulesOfDevice: 100 });
  const kinds = [
    ["/api/users", user, "users", 2, "user limit reached"],
    ["/api/groups", (index: number) => ({ name: `G${index}` }), "groups", 3, "group limit reached"],
    [
      "/api/geofences",
      (index: number) => ({ name: `Z${index}`, geometry: point }),
      "geofences",
      3,
      "geofence limit reached",
    ],
    [
      "/api/alertRules",
      (index: number) => ({ name: `R${index}`, type: "sos", devices: ["d"] }),
      "rules",
      4,
      "alert rule limit reached",
    ],
  ] as const;
  for (const [url, body, name, left, error] of kinds) {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => post(url, body(index))));
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, left, url);
    for (const refused of answers.filter(({ status }) => status !== 201))
      assert.deepEqual([refused.status, refused.json.error], [409, error]);
    assert.equal((await use())[name].used, quotas[name]);
    assert.equal((await send("DELETE", `${url}/${made[0]?.json.id}`)).status, 200);
    assert.equal((await post(url, body(20))).status, 201);
    assert.equal((await post(url, body(21))).status, 409);
  }
});

test("rules of a device and of a group, and webhooks of all rules", async (t) => {
  const { send, post, use } = await start(t);
  const rule = (fields: object) => ({ name: "R", type: "sos", ...fields });
  const first = await post("/api/alertRules", rule({ devices: ["a"], channels: { webhook: [hook(1), hook(2)] } }));
  assert.equal(first.status, 201);
  const many = await post("/api/alertRules", rule({ devices: ["b"], channels: { webhook: [hook(3), hook(4)] } }));
  assert.deepEqual([many.status, many.json.error], [409, "webhook limit reached"]);
  const second = await post("/api/alertRules", rule({ devices: ["a", "b"], channels: { webhook: [hook(3)] } }));
  assert.equal(second.status, 201);
  const third = await post("/api/alertRules", rule({ devices: ["a"] }));
  assert.deepEqual([third.status, third.json.error], [409, "device alert rule limit reached"]);
  const other = await post("/api/alertRules", rule({ devices: ["b"] }));
  assert.equal(other.status, 201);
  const moved = await send("PUT", `/api/alertRules/${other.json.id}`, rule({ devices: ["a"] }));
  assert.deepEqual([moved.status, moved.json.error], [409, "device alert rule limit reached"]);
  // What was refused has changed nothing.
  const { webhooks, rules } = await use();
  assert.deepEqual([webhooks.used, rules.used], [3, 3]);
  assert.equal((await send("DELETE", `/api/alertRules/${first.json.id}`)).status, 200);
  assert.equal((await send("PUT", `/api/alertRules/${other.json.id}`, rule({ devices: ["a"] }))).status, 200);
  assert.equal((await use()).webhooks.used, 1);
});

test("rules that reach a device through its groups count for it, whether the rule or the group comes last", async (t) => {
  const { send, post } = await start(t, { rules: 20 });
  const limit = [409, "device alert rule limit reached"];
  const said = async (answer: ReturnType<typeof send>) => {
    const { status, json } = await answer;
    return status < 300 ? status : [status, json.error];
  };
  const group = async (name: string, devices: string[]) => (await post("/api/groups", { name, devices })).json.id;
  const [north, south] = [await group("North", ["a", "b"]), await group("South", ["b"])];
  const rule = (fields: object) => ({ name: "R", type: "sos", ...fields });
  const make = (fields: object) => said(post("/api/alertRules", rule(fields)));
  assert.equal(await make({ groups: [north] }), 201);
  // A rule that watches a device twice is one.
  const twice = await post("/api/alertRules", rule({ groups: [north, south], devices: ["b"] }));
  assert.equal(twice.status, 201);
  assert.deepEqual(await make({ groups: [south] }), limit);
  assert.deepEqual(await make({ devices: ["a"] }), limit);
  assert.equal(await make({ devices: ["c"] }), 201);
  const own = (devices: string[]) => said(send("PUT", `/api/groups/${north}`, { name: "North", devices }));
  assert.deepEqual(await own(["a", "b", "c"]), limit);
  const steps = [{ op: "add", path: "/devices/-", value: "c" }];
  assert.deepEqual(await said(send("PATCH", `/api/groups/${north}`, steps)), limit);
  assert.equal(await said(post("/api/devices", { id: "b" })), 201);
  assert.deepEqual(await said(send("PUT", "/api/devices/b/alertRules", { rules: [rule({})] })), limit);
  // What is there stays, and may become less.
  const twiceAt = `/api/alertRules/${twice.json.id}`;
  assert.equal(await said(send("PUT", twiceAt, rule({ groups: [north, south], name: "Still" }))), 200);
  assert.equal(await said(send("PUT", twiceAt, rule({ groups: [south] }))), 200);
  assert.equal(await own(["a", "b", "c"]), 200);
  assert.deepEqual(await make({ groups: [south, north] }), limit);
});

test("bytes of all of them; less is always taken, and an account that has more keeps it", async (t) => {
  const { rest, send, post, use } = await start(t);
  const devices = Array.from({ length: 1500 }, (_, index) => `device-${"x".repeat(40)}-${index}`);
  const made = await post("/api/groups", { name: "Large", devices });
  assert.equal(made.status, 201);
  const before = (await use()).bytes.used;
  assert.ok(before > 75_000 && before < 100_000, String(before));
  const more = await post("/api/groups", { name: "Another", devices: devices.slice(0, 1000) });
  assert.deepEqual([more.status, more.json.error], [409, "storage limit reached"]);
  assert.equal((await use()).bytes.used, before);
  const operator = { token: operatorKey };
  const { json } = await rest.call("GET", "/api/admin/accounts", operator);
  const url = `/api/admin/accounts/${json.accounts[0].id}`;
  const set = (name: string, value: unknown) =>
    rest.call("PATCH", url, { ...operator, body: [{ op: "add", path: `/quotas/${name}`, value }] });
  const lowered = await set("bytes", 50_000);
  assert.deepEqual(lowered.json.account.quotas.bytes, { limit: 50_000, used: before });
  assert.equal((await send("GET", `/api/groups/${made.json.id}`)).json.devices.length, 1500);
  assert.equal((await post("/api/groups", { name: "Small" })).status, 409);
  const path = `/api/groups/${made.json.id}`;
  assert.equal((await send("PUT", path, { name: "Large", devices: [...devices, "one"] })).status, 409);
  assert.equal((await send("PUT", path, { name: "Large", devices: devices.slice(0, 1400) })).status, 200);
  assert.equal((await set("bytes", null)).json.account.quotas.bytes.limit, 100_000);
  assert.equal((await post("/api/groups", { name: "Small" })).status, 201);
  assert.equal((await send("DELETE", path)).status, 200);
  assert.ok((await use()).bytes.used < 10_000);
});
