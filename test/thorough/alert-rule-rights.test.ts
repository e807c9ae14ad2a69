import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { endRest, errorOf, type Rest, restWithDevices } from "../support/rest.ts";
import { ruleCalls, speedRule as speed } from "../support/rule-calls.ts";

let rest: Rest;
let token: string;

before(async () => {
  ({ rest, token } = await restWithDevices());
});
after(() => endRest(rest));

const { post, create, remove } = ruleCalls(() => ({ rest, token }));

test("a user of a group sees and changes only rules of the group's devices; other accounts see nothing", async () => {
  const group = (await rest.call("POST", "/api/groups", { token, body: { name: "Own", devices: ["a"] } })).json;
  const writer = await rest.userToken({ group: "Own", privileges: ["write"] });
  const other = await rest.store.accounts.create(
    { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 5, language: "en" },
    0,
  );
  const stranger = await rest.userToken({ accountKey: other.key, privileges: ["admin"] });
  const hidden = await create({ devices: ["a", "b"] });
  const seen = await create({ groups: [group.id] });
  const ids = async (as: string, url = "/api/alertRules") =>
    (await rest.call("GET", url, { token: as })).json.rules.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(writer), [seen.id]);
  assert.deepEqual(await ids(writer, "/api/devices/a/alertRules"), [seen.id]);
  assert.deepEqual(await ids(token, "/api/devices/a/alertRules"), [hidden.id, seen.id]);
  assert.deepEqual(await ids(stranger), []);
  for (const as of [writer, stranger])
    for (const method of ["GET", "PUT", "DELETE"])
      assert.equal((await rest.call(method, `/api/alertRules/${hidden.id}`, { token: as, body: speed })).status, 404);
  assert.deepEqual(errorOf(await post({ ...speed, devices: ["b"] }, writer)), [403, "permission denied"]);
  const put = (fields: object) =>
    rest.call("PUT", `/api/alertRules/${seen.id}`, { token: writer, body: { ...speed, ...fields } });
  assert.deepEqual(errorOf(await put({ devices: ["a", "c"] })), [403, "permission denied"]);
  const copy = { token: writer, body: { devices: ["b"] } };
  assert.equal((await rest.call("POST", `/api/alertRules/${seen.id}/copy`, copy)).status, 403);
  const sms = { channels: { sms: [{ to: "+573001234567" }] } };
  const refused = await put({ ...sms, commands: [{ command: "x" }, { command: "y", sms: true }] });
  assert.deepEqual(refused.json.details, [
    "body/channels/sms: needs the privilege sendSmsAlerts",
    "body/commands: needs the privilege sendCommands",
    "body/commands: needs the privilege sendSmsCommands",
  ]);
  const able = await rest.userToken({ group: "Own", privileges: ["write", "sendSmsAlerts", "execute"] });
  const body = { ...speed, ...sms, commands: [{ command: "x" }] };
  assert.equal((await rest.call("PUT", `/api/alertRules/${seen.id}`, { token: able, body })).status, 200);
  await remove(hidden.id);
  await remove(seen.id);
});

test("the warning about rules of a deleted device or group counts only the rules that the user sees", async () => {
  await rest.call("POST", "/api/devices", { token, body: { id: "leaving" } });
  const body = { name: "Leaving", devices: ["leaving"] };
  const group = (await rest.call("POST", "/api/groups", { token, body })).json;
  const writer = await rest.userToken({ group: "Leaving", privileges: ["write"] });
  const rules = [
    await create({ devices: ["leaving", "b"] }),
    await create({ devices: ["leaving"] }),
    await create({ devices: [], groups: [group.id] }),
    await create({ devices: ["b"], groups: [group.id] }),
  ];
  for (const path of ["/api/devices/leaving", `/api/groups/${group.id}`]) {
    const { json } = await rest.call("DELETE", path, { token: writer });
    assert.deepEqual(json.warnings, ["alert rules that name it and can't watch it any more: 1"], path);
  }
  for (const { id } of rules) await remove(id);
});

test("only a user who sees all rules that name a zone can change the zone", async () => {
  const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
  const zone = (await rest.call("POST", "/api/geofences", { token, body: { name: "Z", geometry } })).json;
  const writer = await rest.userToken({ deviceId: "a", privileges: ["write"] });
  const put = () => rest.call("PUT", `/api/geofences/${zone.id}`, { token: writer, body: { name: "Mine", geometry } });
  assert.equal((await put()).status, 200);
  const rule = await create({ devices: ["b"], conditions: [{ zone: zone.id, operator: "inside" }] });
  assert.deepEqual(errorOf(await put()), [403, "permission denied"]);
  assert.equal((await rest.call("DELETE", `/api/geofences/${zone.id}`, { token: writer })).status, 403);
  await remove(rule.id);
  assert.equal((await rest.call("DELETE", `/api/geofences/${zone.id}`, { token: writer })).status, 200);
});
