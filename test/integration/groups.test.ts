import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { endRest, errorOf, type Rest, restWithDevices } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  ({ rest, token } = await restWithDevices());
});
after(() => endRest(rest));

function fieldsOf({ name, description, devices }: Record<string, unknown>) {
  return { name, description, devices };
}

async function create(body: object) {
  const answer = await rest.call("POST", "/api/groups", { token, body });
  assert.equal(answer.status, 201, answer.body);
  return answer.json;
}

describe("groups", () => {
  test("created, read, listed, replaced, deleted; what is not set is null", async () => {
    const answer = await rest.call("POST", "/api/groups", { token, body: { name: "Plain" } });
    const { id, creation } = answer.json;
    assert.deepEqual([answer.status, answer.headers.location], [201, `/api/groups/${id}`]);
    assert.deepEqual(fieldsOf(answer.json), { name: "Plain", description: null, devices: [] });
    assert.equal(answer.json.lastModified, creation);
    rest.clock.pass(1000);
    const full = { name: "Full", description: "d", devices: ["b", "a", "unknown"] };
    const replaced = await rest.call("PUT", `/api/groups/${id}`, { token, body: full });
    assert.deepEqual(fieldsOf(replaced.json), full);
    assert.deepEqual(replaced.json.warnings, [
      "body/devices: no device of the account is registered as unknown; kept, and grants nothing",
    ]);
    assert.ok(replaced.json.lastModified > creation);
    assert.deepEqual(fieldsOf((await rest.call("GET", `/api/groups/${id}`, { token })).json), full);
    const again = await rest.call("PUT", `/api/groups/${id}`, { token, body: replaced.json });
    assert.deepEqual([fieldsOf(again.json), again.json.warnings.length], [full, 1]);
    const reset = await rest.call("PUT", `/api/groups/${id}`, { token, body: { name: "Full" } });
    assert.deepEqual(fieldsOf(reset.json), { name: "Full", description: null, devices: [] });
    assert.deepEqual((await create({ name: "Empty", devices: [] })).devices, []);
    const { groups } = (await rest.call("GET", "/api/groups", { token })).json;
    assert.deepEqual(
      groups.map(({ name }: { name: string }) => name),
      ["Full", "Empty"],
    );
    assert.equal((await rest.call("DELETE", `/api/groups/${id}`, { token })).status, 200);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      assert.deepEqual(
        errorOf(await rest.call(method, `/api/groups/${id}`, { token, body: method === "PATCH" ? [] : full })),
        [404, "group not found"],
      );
  });

  test("of many unknown devices the first are named, after one question of the store", async () => {
    const devices = Array.from({ length: 15_000 }, (_, index) => `invented-${index}`);
    const { warnings } = await create({ name: "Invented", devices });
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0],
      /registered as invented-0, .*, invented-19 and 480 more, and perhaps some of the 14500 after/,
    );
    const known = await create({ name: "Known", devices: [...Array.from({ length: 3000 }, () => "a"), "late"] });
    assert.match(known.warnings[0], /registered as late; kept/);
  });

  test("what is wrong has its code and text, and changes nothing", async () => {
    const group = await create({ name: "Kept", devices: ["a"] });
    const path = `/api/groups/${group.id}`;
    for (const body of [
      {},
      { name: "" },
      { name: " " },
      { name: 1 },
      { name: null },
      { name: "x", devices: "a" },
      [],
      "",
      "{",
    ]) {
      assert.deepEqual(errorOf(await rest.call("POST", "/api/groups", { token, body })), [400, "invalid input"]);
      assert.deepEqual(errorOf(await rest.call("PUT", path, { token, body })), [400, "invalid input"]);
    }
    const patches: [unknown, number, string][] = [
      [{}, 400, "invalid patch operation"],
      [[{ op: "replace", path: "/id", value: "x" }], 400, "invalid patch operation"],
      [[{ op: "replace", path: "/lastModified", value: "x" }], 400, "invalid patch operation"],
      [[{ op: "remove", path: "/devices/5" }], 400, "invalid patch operation"],
      [[{ op: "add", path: "/color", value: "red" }], 400, "invalid patch operation"],
      [[{ op: "replace", path: "/name", value: "" }], 400, "invalid input"],
      [[{ op: "remove", path: "/name" }], 400, "invalid input"],
      [[{ op: "test", path: "/name", value: "Other" }], 409, "patch test failed"],
    ];
    for (const [body, status, error] of patches)
      assert.deepEqual(errorOf(await rest.call("PATCH", path, { token, body })), [status, error], JSON.stringify(body));
    assert.deepEqual(fieldsOf((await rest.call("GET", path, { token })).json), fieldsOf(group));
  });

  test("patches at the same time lose nothing", async () => {
    const group = await create({ name: "Busy", devices: [] });
    const add = (value: string) =>
      rest.call("PATCH", `/api/groups/${group.id}`, { token, body: [{ op: "add", path: "/devices/-", value }] });
    await Promise.all(Array.from({ length: 10 }, (_, index) => add(`d${index}`)));
    assert.equal((await rest.call("GET", `/api/groups/${group.id}`, { token })).json.devices.length, 10);
  });

  test("a device is added to a group that was stored without any", async () => {
    const { id } = await create({ name: "Empty" });
    const body = [{ op: "add", path: "/devices/-", value: "a" }];
    assert.deepEqual((await rest.call("PATCH", `/api/groups/${id}`, { token, body })).json.devices, ["a"]);
    assert.deepEqual(
      (await rest.call("PUT", `/api/groups/${id}`, { token, body: { name: "E", devices: null } })).json.devices,
      [],
    );
    assert.deepEqual((await rest.call("GET", "/api/groups", { token })).json.groups.at(-1)?.devices, []);
    await rest.call("DELETE", `/api/groups/${id}`, { token });
  });

  test("any fields survive POST, GET, PUT and a patch", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((value) => value.isWellFormed());
    const target = await create({ name: "Target" });
    const fields = fc.record(
      {
        name: text.filter((value) => value.trim() !== ""),
        description: fc.option(text),
        devices: fc.option(
          fc.array(
            text.filter((value) => value !== ""),
            { maxLength: 20 },
          ),
        ),
      },
      { noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (sent) => {
        const group = await create(sent);
        const shown = { ...sent, devices: sent.devices ?? [] };
        assert.deepEqual(fieldsOf(group), shown);
        assert.deepEqual(fieldsOf((await rest.call("GET", `/api/groups/${group.id}`, { token })).json), shown);
        const operations = Object.entries(sent).map(([name, value]) => ({ op: "replace", path: `/${name}`, value }));
        const patched = await rest.call("PATCH", `/api/groups/${target.id}`, { token, body: operations });
        assert.deepEqual(fieldsOf(patched.json), shown);
        await rest.call("DELETE", `/api/groups/${group.id}`, { token });
      }),
      { numRuns: 30 },
    );
  });
});

describe("what a user of a group sees", () => {
  const seen = async (own: string) =>
    (await rest.call("GET", "/api/devices", { token: own })).json.devices.map(({ id }: { id: string }) => id);

  test("its devices, by the group's id or name, as of now", async () => {
    const byName = await rest.userToken({ group: "Scope", deviceId: "c" });
    assert.deepEqual(await seen(byName), ["c"]);
    const group = await create({ name: "Scope", devices: ["a", "elsewhere"] });
    const byId = await rest.userToken({ group: group.id });
    assert.deepEqual([await seen(byName), await seen(byId)], [["a", "c"], ["a"]]);
    const last = async (id: string) =>
      (await rest.call("GET", `/api/devices/${id}/lastLocation`, { token: byId })).status;
    assert.deepEqual([await last("a"), await last("b")], [200, 404]);
    const patch = [{ op: "replace", path: "/devices", value: ["b"] }];
    await rest.call("PATCH", `/api/groups/${group.id}`, { token, body: patch });
    assert.deepEqual([await last("a"), await last("b")], [404, 200]);
    await rest.call("PUT", `/api/groups/${group.id}`, { token, body: { name: "Renamed", devices: ["b"] } });
    assert.deepEqual([await seen(byName), await seen(byId)], [["c"], ["b"]]);
    await rest.call("DELETE", `/api/groups/${group.id}`, { token });
    assert.equal(await last("b"), 404);
  });

  test("a large group as a small one, and nothing of another account", async () => {
    const other = await rest.store.accounts.create(
      { id: "x", name: "X", timeZone: "Etc/UTC", licenses: 9, language: "en" },
      0,
    );
    const stranger = await rest.userToken({ accountKey: other.key, privileges: ["admin"] });
    await rest.call("POST", "/api/devices", { token: stranger, body: { id: "theirs" } });
    const unknown = Array.from({ length: 30 }, (_, index) => `u${index}`);
    const group = await create({ name: "Large", devices: [...unknown, "b", "a", "theirs"] });
    assert.match(group.warnings[0], /u0, u1, .* and 11 more; kept/);
    const own = await rest.userToken({ group: "Large" });
    assert.deepEqual(await seen(own), ["a", "b"]);
    assert.equal((await rest.call("GET", "/api/devices/theirs", { token: own })).status, 404);
    const small = await create({ name: "Small", devices: ["theirs", "a"] });
    assert.deepEqual(await seen(await rest.userToken({ group: "Small" })), ["a"]);
    const path = `/api/groups/${small.id}`;
    assert.deepEqual(errorOf(await rest.call("GET", path, { token: stranger })), [404, "group not found"]);
    const foreign = await rest.userToken({ accountKey: other.key, group: small.id });
    assert.deepEqual(await seen(foreign), []);
  });

  test("`write` edits its own group and can't widen what it sees", async () => {
    const group = await create({ name: "Edited", devices: ["a", "b"] });
    await create({ name: "Hidden", devices: ["c"] });
    const own = await rest.userToken({ group: "Edited", privileges: ["write"] });
    const path = `/api/groups/${group.id}`;
    const { groups } = (await rest.call("GET", "/api/groups", { token: own })).json;
    assert.deepEqual(
      groups.map(({ id }: { id: string }) => id),
      [group.id],
    );
    const put = (devices: string[]) => rest.call("PUT", path, { token: own, body: { name: "Edited", devices } });
    for (const devices of [
      ["a", "c"],
      ["a", "never registered"],
    ])
      assert.deepEqual(errorOf(await put(devices)), [403, "permission denied"]);
    const patch = [{ op: "add", path: "/devices/-", value: "c" }];
    assert.deepEqual(errorOf(await rest.call("PATCH", path, { token: own, body: patch })), [403, "permission denied"]);
    assert.equal((await put(["b"])).status, 200);
    assert.deepEqual(errorOf(await put(["a", "b"])), [403, "permission denied"]);
    const post = (body: object) => rest.call("POST", "/api/groups", { token: own, body });
    assert.deepEqual(errorOf(await post({ name: "Another" })), [403, "permission denied"]);
    assert.deepEqual(errorOf(await post({ name: "Edited", devices: ["c"] })), [403, "permission denied"]);
    assert.equal((await post({ name: "Edited", devices: ["b"] })).status, 201);
  });
});
