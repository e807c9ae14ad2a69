import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Store } from "../../src/ports/store.ts";
import { commitAlerts, email, newAlert, newNotice } from "../contract/store/alert-values.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

/** Questions of the store, counted. */
let asked = 0;

/** A part of a store whose questions are counted. */
function counted<T extends object>(part: T): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...values: unknown[]) => {
        asked++;
        return Reflect.apply(value, target, values);
      };
    },
  });
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
