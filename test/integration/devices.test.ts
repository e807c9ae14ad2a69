import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { failed, part } from "../support/answers.ts";
import { endRest, errorOf, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

describe("devices", () => {
  test("of phone apps have ids with @, + and /, which paths take percent-encoded", async () => {
    for (const id of ["jane@example.net", "+573001234567", "jane/phone", "a+b@c/d"]) {
      const created = await rest.call("POST", "/api/devices", { token, body: { id } });
      assert.equal(created.status, 201, JSON.stringify(created.json));
      const path = `/api/devices/${encodeURIComponent(id)}`;
      assert.equal(created.headers.location, path);
      assert.equal((await rest.call("GET", path, { token })).json.device.id, id);
      assert.equal((await rest.call("GET", `${path}/lastLocation`, { token })).json.lastLocation, null);
      const asked = await rest.call("GET", `/api/alerts?devices=${encodeURIComponent(`${id},CaSe-1`)}`, { token });
      assert.notEqual(asked.status, 500);
      assert.equal((await rest.call("DELETE", path, { token })).status, 200);
    }
  });

  test("created, listed, read, replaced, patched, deleted", async () => {
    const device = {
      id: "CaSe-1",
      name: "Truck",
      description: "d",
      min: "+573001234567",
      tags: { plate: "ABC-123" },
      expires: "2099-01-01T00:00:00.000Z",
      aliases: ["alias-1"],
      milleageStart: 12.5,
      protocols: ["h02", "osmand"],
      networks: ["203.0.113.0/24", "2001:db8::1"],
      positionDays: 400,
      timeOffset: -18_000,
      speedUnit: "m/s",
      secretSet: false,
    };
    const created = await rest.call("POST", "/api/devices", {
      token,
      body: { ...device, expires: "2099-01-01T01:00:00+01:00" },
    });
    assert.equal(created.status, 201);
    assert.equal(created.headers.location, "/api/devices/CaSe-1");
    assert.deepEqual(created.json.device, device);
    const path = "/API/Devices/CaSe-1";
    assert.deepEqual((await rest.call("GET", path, { token })).json.device, device);
    assert.deepEqual(
      (await rest.call("GET", "/api/devices", { token })).json.devices.find(
        ({ id }: { id: string }) => id === "CaSe-1",
      ),
      device,
    );

    const again = await rest.call("POST", "/api/devices", { token, body: { id: "CaSe-1" } });
    assert.equal(again.status, 409);
    assert.deepEqual(part(again), failed("device already exists"));
    const alias = await rest.call("POST", "/api/devices", { token, body: { id: "other", aliases: ["alias-1"] } });
    assert.equal(alias.status, 409);

    const patched = await rest.call("PATCH", path, {
      token,
      body: [
        { op: "test", path: "/name", value: "Truck" },
        { op: "replace", path: "/name", value: "Van" },
        { op: "add", path: "/tags/a~1b", value: "c" },
        { op: "remove", path: "/expires" },
      ],
    });
    assert.equal(patched.status, 200);
    assert.deepEqual(patched.json.device, {
      ...device,
      name: "Van",
      tags: { plate: "ABC-123", "a/b": "c" },
      expires: null,
    });

    const replaced = await rest.call("PUT", path, { token, body: { name: "Bus", id: "CaSe-1" } });
    assert.deepEqual(replaced.json.device, {
      id: "CaSe-1",
      name: "Bus",
      description: null,
      min: null,
      tags: {},
      expires: null,
      aliases: [],
      milleageStart: 0,
      protocols: [],
      networks: [],
      // Left out, it stays.
      positionDays: 400,
      timeOffset: 0,
      speedUnit: null,
      secretSet: false,
    });
    assert.equal("warnings" in replaced.json, false);
    assert.equal((await rest.call("PUT", path, { token, body: { Name: "Bus" } })).json.warnings.length, 1);
    assert.equal((await rest.call("GET", path, { token })).json.device.name, "CaSe-1");

    const removed = await rest.call("DELETE", path, { token, headers: { "content-type": "application/json" } });
    assert.equal(removed.status, 200);
    assert.deepEqual(Object.keys(removed.json).toSorted(), ["apiDailyUsage", "apiUsage", "error", "success"]);
    for (const method of ["GET", "DELETE"])
      assert.deepEqual(part(await rest.call(method, path, { token })), failed("device not found"));
  });

  test("a changed id: everything but the id stays, and who may not register the new one may not take it", async () => {
    const post = (path: string, body: object, as = token) => rest.call("POST", `/api/${path}`, { token: as, body });
    await post("devices", { id: "tracker-1", aliases: ["serial-1"], tags: { plate: "ABC-123" }, secret: "key" });
    await post("devices", { id: "tracker-3" });
    const { id: group } = (await post("groups", { name: "Exchanged", devices: ["tracker-1", "tracker-9"] })).json;
    const { id: rule } = (await post("alertRules", { name: "R", type: "sos", devices: ["tracker-1"] })).json;
    const driver = await rest.userToken({ privileges: ["write"], deviceId: "tracker-1" });
    const fleet = await rest.userToken({ privileges: ["write"], group });

    const change = "devices/tracker-1/changeId";
    assert.equal((await post(change, { id: "tracker-2" }, driver)).status, 403);
    assert.equal((await post(change, { id: "tracker-2" }, fleet)).status, 403);
    assert.deepEqual(errorOf(await post(change, { id: "tracker-3" })), [409, "device already exists"]);
    assert.deepEqual(errorOf(await post("devices/nobody/changeId", { id: "tracker-2" })), [404, "device not found"]);
    for (const id of ["", ".", "a b", 7, null, undefined])
      assert.deepEqual(errorOf(await post(change, { id })), [400, "Bad Request"], String(id));
    const patch = [{ op: "replace", path: "/id", value: "tracker-2" }];
    const patched = await rest.call("PATCH", "/api/devices/tracker-1", { token, body: patch });
    assert.deepEqual(errorOf(patched), [400, "invalid patch operation"]);

    const before = (await rest.call("GET", "/api/devices/tracker-1", { token })).json.device;
    const changed = await post(change, { id: "tracker-2", name: "x" });
    assert.equal(changed.status, 200, changed.body);
    // It has no name of its own, so its id is its name.
    assert.deepEqual(changed.json.device, { ...before, id: "tracker-2", name: "tracker-2" });
    assert.deepEqual(changed.json.warnings, ["body/name: not a field that can be set; ignored"]);
    assert.equal((await rest.call("GET", "/api/devices/tracker-1", { token })).status, 404);
    assert.equal((await rest.call("GET", "/api/devices/tracker-2/lastLocation", { token })).status, 200);
    const read = async (path: string) => (await rest.call("GET", `/api/${path}`, { token })).json;
    assert.deepEqual((await read(`groups/${group}`)).devices, ["tracker-2", "tracker-9"]);
    assert.deepEqual((await read(`alertRules/${rule}`)).devices, ["tracker-2"]);
    for (const seen of [driver, fleet]) {
      const { devices } = (await rest.call("GET", "/api/devices", { token: seen })).json;
      assert.deepEqual(
        devices.map(({ id }: { id: string }) => id),
        ["tracker-2"],
      );
    }
    // Of the group, which names this id already.
    assert.equal((await post("devices/tracker-2/changeId", { id: "tracker-9" }, fleet)).status, 200);
    assert.deepEqual((await read(`groups/${group}`)).devices, ["tracker-9"]);
    const alias = await post("devices/tracker-9/changeId", { id: "serial-1" });
    assert.deepEqual(alias.json.device.aliases, []);
    assert.equal((await post("devices", { id: "tracker-1" })).status, 201);
  });

  test("the case of an id matters", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "MixedCase" } });
    assert.equal((await rest.call("GET", "/api/DEVICES/MixedCase/", { token })).status, 200);
    assert.equal((await rest.call("GET", "/api/devices/mixedcase", { token })).status, 404);
  });

  test("bad input says what and where", async () => {
    const cases: [object, string][] = [
      [{}, "body/id: is required"],
      [{ id: "a b" }, "body/id: must be 1 to 64 of"],
      [{ id: "" }, "body/id: must be 1 to 64 of"],
      [{ id: "x".repeat(65) }, "body/id: must be 1 to 64 of"],
      [{ id: 5 }, "body/id: must be string"],
      [{ id: "q", timeOffset: 86_401 }, "body/timeOffset: must be <= 86400"],
      [{ id: "q", timeOffset: 1.5 }, "body/timeOffset: must be integer or null"],
      [{ id: "q", speedUnit: "mph" }, "body/speedUnit: must be one of kn, m/s, km/h, null"],
      [{ id: "q", name: 5 }, "body/name: must be string or null"],
      [{ id: "q", tags: { a: 1 } }, "body/tags/a: must be string"],
      [{ id: "q", expires: "tomorrow" }, "body/expires: must be an RFC 3339 date-time"],
      [{ id: "q", expires: "2026-02-30T00:00:00Z" }, "body/expires: must be an RFC 3339 date-time"],
      [{ id: "q", aliases: ["a", "a"] }, "body/aliases: must not have the same item twice"],
      [{ id: "q", milleageStart: -1 }, "body/milleageStart: must be >= 0"],
      [{ id: "q", min: "call me" }, "body/min: must be a phone number"],
      [{ id: "q", protocols: ["telegraph"] }, "body/protocols/0: must be"],
      [{ id: "q", protocols: ["h02", "h02"] }, "body/protocols: must not have the same item twice"],
      [{ id: "q", networks: ["10.0.0.0/33"] }, "body/networks/0: must be an IPv4 or IPv6 address or network"],
      [{ id: "q", networks: ["example.com"] }, "body/networks/0: must be an IPv4 or IPv6 address or network"],
      [{ id: "q", networks: Array.from({ length: 17 }, (_, index) => `10.0.0.${index}`) }, "body/networks: must"],
      [{ id: "q", secret: "" }, "body/secret: must"],
      [{ id: "q", secret: "a b" }, "body/secret: must be letters, digits and signs of ASCII"],
      [{ id: "q", secret: "x".repeat(129) }, "body/secret: must"],
    ];
    for (const [body, detail] of cases) {
      const answer = await rest.call("POST", "/api/devices", { token, body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.error, "Bad Request");
      assert.ok(answer.json.details[0].startsWith(detail), answer.json.details[0]);
    }
  });

  test("a secret is set, changed and taken away, and never given back", async () => {
    const said: string[] = [];
    const call = async (method: string, body?: unknown) => {
      const answer = await rest.call(method, method === "POST" ? "/api/devices" : "/api/devices/kept", {
        token,
        ...(body !== undefined && { body }),
      });
      said.push(answer.body);
      return answer;
    };
    const hash = async () => (await rest.store.devices.find("kept"))?.identity.secretHash ?? null;
    const made = await call("POST", { id: "kept", protocols: ["osmand"], secret: "Zq-first" });
    assert.equal(made.json.device.secretSet, true);
    assert.equal("warnings" in made.json, false);
    const first = await hash();
    // What leaves it out leaves it as it is.
    await call("PUT", { name: "n", secretSet: true, protocols: ["osmand"] });
    await call("PATCH", [{ op: "replace", path: "/name", value: "m" }]);
    assert.equal(await hash(), first);
    await call("PATCH", [{ op: "add", path: "/secret", value: "Zq-second" }]);
    const second = await hash();
    assert.notEqual(second, first);
    await call("PATCH", [{ op: "copy", from: "/secret", path: "/description" }]);
    const { description } = (await call("GET")).json.device;
    assert.match(description, /^\*+$/);
    assert.equal(await hash(), second);
    const warned = await call("PUT", { protocols: ["osmand", "h02"] });
    assert.match(warned.json.warnings[0], /^body\/secret: h02 carry none/);
    await rest.call("PUT", "/api/devices/kept/limits", { token, body: {} });
    assert.equal(await hash(), second);
    for (const step of [
      { op: "remove", path: "/secret" },
      { op: "replace", path: "/secret", value: null },
    ]) {
      await call("PATCH", [{ op: "add", path: "/secret", value: "Zq-third" }]);
      assert.equal((await call("PATCH", [step])).json.device.secretSet, false);
    }
    await call("PUT", { secret: "Zq-last" });
    await call("GET");
    assert.equal((await call("PUT", { secret: null })).json.device.secretSet, false);
    assert.equal(await hash(), null);
    assert.ok(!said.join().includes("Zq-"));
    assert.ok(!rest.logged.join().includes("Zq-"));
  });

  test("patches: malformed 400, a test that fails 409, a bad result as for PUT; nothing of them stays", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "patched" } });
    const patch = (body: unknown) => rest.call("PATCH", "/api/devices/patched", { token, body });
    const malformed: unknown[] = [
      {},
      "",
      "{",
      "null",
      [{ op: "jump", path: "/name" }],
      [{ op: "add", path: "/nothing", value: 1 }],
      [{ op: "replace", path: "/id", value: "x" }],
      [{ op: "remove", path: "/tags/none" }],
      [
        { op: "replace", path: "/name", value: "x" },
        { op: "add", path: "/name" },
      ],
    ];
    for (const body of malformed) {
      const answer = await patch(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.error, "invalid patch operation");
    }
    const conflict = await patch([
      { op: "replace", path: "/name", value: "x" },
      { op: "test", path: "/name", value: "y" },
    ]);
    assert.equal(conflict.status, 409);
    assert.deepEqual(part(conflict), failed("patch test failed"));
    const result = await patch([{ op: "replace", path: "/expires", value: "soon" }]);
    assert.deepEqual(part(result), failed("Bad Request"));
    assert.equal((await rest.call("GET", "/api/devices/patched", { token })).json.device.name, "patched");
    const many = await Promise.all(
      Array.from({ length: 10 }, (_, index) => patch([{ op: "add", path: `/tags/${index}`, value: "x" }])),
    );
    assert.ok(many.every(({ status }) => status === 200));
    assert.equal(Object.keys((await rest.call("GET", "/api/devices/patched", { token })).json.device.tags).length, 10);
  });

  test("limits, licences and expiry", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "limited" } });
    const path = "/api/devices/limited/limits";
    const defaults = { expires: null, dailyEmailLimit: 50, dailySmsLimit: 10, emailsSentToday: 0, smsSentToday: 0 };
    const {
      success: _s,
      error: _e,
      apiUsage: _u,
      apiDailyUsage: _d,
      ...fields
    } = (await rest.call("GET", path, { token })).json;
    assert.deepEqual(fields, defaults);
    const expired = await rest.call("PUT", path, { token, body: { expires: "2020-01-01T00:00:00", dailySmsLimit: 0 } });
    assert.equal(expired.json.expires, "2020-01-01T00:00:00.000Z");
    assert.equal(expired.json.dailySmsLimit, 0);
    const listed = (await rest.call("GET", "/api/devices", { token })).json.devices.map(({ id }: { id: string }) => id);
    assert.ok(!listed.includes("limited"));
    assert.equal((await rest.call("GET", "/api/devices/limited", { token })).status, 200);
    assert.equal((await rest.call("PUT", path, { token, body: { dailySmsLimit: -1 } })).status, 400);

    const { total, used, free } = (await rest.call("GET", "/api/account", { token })).json.licenses;
    assert.equal(free, total - used);
    for (let index = 0; index < free; index++)
      assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: `filler-${index}` } })).status, 201);
    for (const [method, url, body] of [
      ["POST", "/api/devices", { id: "one-too-many" }],
      ["PUT", path, {}],
      ["PUT", "/api/devices/limited", {}],
      ["PATCH", "/api/devices/limited", [{ op: "replace", path: "/expires", value: null }]],
    ] as const) {
      const answer = await rest.call(method, url, { token, body });
      assert.equal(answer.status, 409, `${method} ${url}`);
      assert.deepEqual(part(answer), failed("no license available"));
    }
    for (let index = 0; index < free; index++) await rest.call("DELETE", `/api/devices/filler-${index}`, { token });
    assert.equal((await rest.call("PUT", path, { token, body: {} })).json.expires, null);
  });
});
