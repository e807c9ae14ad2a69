import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
const secret = "0123456789abcdef";
const webhook = { url: "https://example.com/hook", secret };
const speed = { name: "Speed", type: "speedOver", parameters: { kmh: 80 } };

before(async () => {
  rest = await startRest();
  token = await rest.ownerToken();
  for (const id of ["a", "b", "c"]) await rest.call("POST", "/api/devices", { token, body: { id } });
});
after(() => endRest(rest));

describe("all rules of a device", () => {
  const url = "/api/devices/c/alertRules";
  const put = (...rules: object[]) => rest.call("PUT", url, { token, body: { rules } });
  const sos = { name: "SOS", type: "sos" };

  test("are replaced at once; those with an id stay the same rules and keep their secrets", async () => {
    const body = { ...speed, devices: ["c", "a"] };
    const shared = await rest.call("POST", "/api/alertRules", { token, body });
    assert.equal(shared.status, 201, shared.body);
    const first = await put(
      { ...sos, channels: { webhook: [webhook] } },
      { name: "Low", type: "lowBattery", parameters: { percent: 20 } },
    );
    assert.equal(first.status, 200, first.body);
    const [one, two] = first.json.rules;
    const second = await put({ ...sos, name: "New" }, { ...one, name: "Kept" });
    assert.deepEqual(
      second.json.rules.map(({ name }: { name: string }) => name),
      ["New", "Kept"],
    );
    assert.equal(second.json.rules[1].id, one.id);
    assert.deepEqual((await rest.store.alertRules.find(one.id))?.channels.webhook, [webhook]);
    assert.equal(await rest.store.alertRules.find(two.id), undefined);
    const { rules } = (await rest.call("GET", url, { token })).json;
    assert.deepEqual(
      rules.map(({ name }: { name: string }) => name),
      ["Speed", "Kept", "New"],
    );
    const refused = await put(
      { ...sos, id: two.id },
      { ...sos, devices: ["a"] },
      { ...speed, devices: ["a"], parameters: { kmh: -1 } },
    );
    assert.deepEqual([refused.status, refused.json.error], [400, "invalid input"]);
    assert.deepEqual(
      refused.json.details.map((detail: string) => detail.split(":")[0]),
      ["body/rules/0/id", "body/rules/1/devices", "body/rules/2/devices", "body/rules/2/parameters"],
    );
    assert.equal((await rest.call("GET", url, { token })).json.rules.length, 3);
    await put();
    assert.equal((await rest.call("DELETE", `/api/alertRules/${shared.json.id}`, { token })).status, 200);
  });

  test("by many at the same time are those of one of them", async () => {
    const sets = Array.from({ length: 12 }, (_, set) =>
      Array.from({ length: 3 }, (_unused, index) => ({ ...sos, name: `${set}.${index}` })),
    );
    const answers = await Promise.all(sets.map((rules) => put(...rules)));
    for (const answer of answers) assert.equal(answer.status, 200, answer.body);
    const { rules } = (await rest.call("GET", url, { token })).json;
    const names: string[] = rules.map(({ name }: { name: string }) => name);
    assert.equal(names.length, 3);
    assert.equal(new Set(names.map((name) => name.split(".")[0])).size, 1, names.join());
    await put();
  });
});
