import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Store } from "../../src/ports/store.ts";
import { commitAlerts, email, newAlert, newNotice } from "../contract/store/alert-values.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

/** Questions of the store, counted. */
let asked = 0;
/** Rows of the pages that it answered. */
let read = 0;

/** A part of a store whose questions are counted. */
function counted<T extends object>(part: T): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...values: unknown[]) => {
        asked++;
        const answer: unknown = Reflect.apply(value, target, values);
        return answer instanceof Promise && name === "page" ? answer.then(counting) : answer;
      };
    },
  });
}

function counting(page: { readonly rows: readonly unknown[] }) {
  read += page.rows.length;
  return page;
}

const spoil = (store: Store): Store =>
  Object.assign(Object.create(store), {
    groups: counted(store.groups),
    geofences: counted(store.geofences),
    alertRules: counted(store.alertRules),
    alerts: counted(store.alerts),
  });

const rules = 30;
let rest: Rest;
let owner: string;
let writer: string;

before(async () => {
  rest = await startRest({ spoil });
  owner = await rest.ownerToken();
  await rest.call("POST", "/api/devices", { token: owner, body: { id: "d" } });
  await rest.call("POST", "/api/groups", { token: owner, body: { name: "g", devices: ["d"] } });
  writer = await rest.userToken({ group: "g", privileges: ["write", "execute"] });
  const geometry = { type: "Point", coordinates: [1, 2], radius: 100 };
  const { id: zone } = (await rest.call("POST", "/api/geofences", { token: owner, body: { name: "z", geometry } }))
    .json;
  const device = (await rest.store.devices.find("d"))?.key ?? 0;
  for (let index = 0; index < rules; index++) {
    const body = {
      ...{ name: `r${index}`, type: "forbiddenZone", parameters: { zones: [zone] }, devices: ["d"] },
      commands: [{ command: "stop" }],
    };
    const { status, json } = await rest.call("POST", "/api/alertRules", { token: writer, body });
    assert.equal(status, 201, JSON.stringify(json));
    const alert = newAlert(device, index + 1, { ruleId: json.id });
    await commitAlerts(rest.store, device, [alert], [newNotice(alert, { target: email })]);
  }
});
after(() => endRest(rest));

for (const [what, method, url] of [
  ["rules", "GET", "/api/alertRules"],
  ["rules of a device", "GET", "/api/devices/d/alertRules"],
  ["notifications", "GET", "/api/devices/d/notifications"],
  ["a deletion of what many rules watch", "DELETE", "/api/devices/d"],
] as const)
  test(`${what}: what a call looks up does not grow with the rules`, async () => {
    asked = 0;
    const { status, body } = await rest.call(method, url, { token: writer });
    assert.equal(status, 200, body);
    assert.ok(asked < rules / 2, `${asked} questions of the store for ${rules} rules`);
  });

test("what no rule names is changed and deleted without the reading of rules, and rules of a device without that of others", async () => {
  const post = async (path: string, body: unknown) => (await rest.call("POST", path, { token: owner, body })).json.id;
  const zone = { name: "other", geometry: { type: "Point", coordinates: [1, 2], radius: 1 } };
  const zonePath = `/api/geofences/${await post("/api/geofences", zone)}`;
  const groupPath = `/api/groups/${await post("/api/groups", { name: "other", devices: ["lone"] })}`;
  const rule = { name: "other", type: "sos", devices: ["lone"] };
  await post("/api/devices", { id: "lone" });
  for (const [method, path, body, rows] of [
    ["PUT", zonePath, zone, 0],
    ["DELETE", zonePath, undefined, 0],
    ["GET", "/api/devices/lone/alertRules", undefined, 0],
    ["PUT", "/api/devices/lone/alertRules", { rules: [rule] }, 0],
    ["PUT", "/api/devices/lone/alertRules", { rules: [rule, rule] }, 1],
    ["DELETE", groupPath, undefined, 0],
    ["GET", "/api/devices/lone/alertRules", undefined, 2],
    ["DELETE", "/api/devices/lone", undefined, 0],
  ] as const) {
    read = 0;
    const { status, body: text } = await rest.call(method, path, { token: owner, body });
    assert.equal(status, 200, text);
    assert.equal(read, rows, `${method} ${path}`);
  }
});
