import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

const circle = { type: "Point", coordinates: [-74.0721, 4.711], radius: 0.5 };
const ring = [
  [179, 0],
  [181, 0],
  [181, 1],
  [179, 0],
];
const polygon = { type: "Polygon", coordinates: [ring] };
const line = [
  [-74, 4],
  [-74.1, 4.2],
];
const route = { type: "LineString", coordinates: line, width: 0.2 };
const post = (body: unknown) => rest.call("POST", "/api/geofences", { token, body });

describe("geofences", () => {
  test("of each kind are given back as they came, through POST, GET, PUT and PATCH", async () => {
    for (const geometry of [circle, polygon, route]) {
      const made = await post({ name: "Zone", geometry });
      assert.equal(made.status, 201, made.body);
      const { id, name, description, creation, modification } = made.json;
      const path = `/api/geofences/${id}`;
      assert.equal(made.headers.location, path);
      assert.deepEqual([name, description, made.json.geometry, modification], ["Zone", null, geometry, creation]);
      rest.clock.pass(5);
      const replaced = await rest.call("PUT", path, { token, body: { ...made.json, name: "Again" } });
      assert.deepEqual([replaced.status, replaced.json.name, replaced.json.warnings], [200, "Again", undefined]);
      assert.deepEqual(replaced.json.geometry, geometry);
      assert.ok(replaced.json.modification > creation);
      const body = [
        { op: "test", path: "/geometry/type", value: geometry.type },
        { op: "add", path: "/description", value: "d" },
      ];
      assert.equal((await rest.call("PATCH", path, { token, body })).json.description, "d");
      assert.deepEqual((await rest.call("GET", path, { token })).json.geometry, geometry);
      assert.equal((await rest.call("DELETE", path, { token })).status, 200);
      for (const method of ["GET", "PUT", "DELETE"]) {
        const gone = await rest.call(method, path, { token, body: { name: "Zone", geometry } });
        assert.deepEqual([gone.status, gone.json.error], [404, "geofence not found"]);
      }
    }
    assert.deepEqual((await rest.call("GET", "/api/geofences", { token })).json.geofences, []);
  });

  test("a Feature of a map is taken; what is not used is warned of", async () => {
    const { radius, ...geometry } = circle;
    const feature = { type: "Feature", geometry, properties: { radius, color: "red" } };
    const made = await post({ name: "Feature", geometry: feature, color: "red" });
    assert.deepEqual(made.json.geometry, circle);
    assert.deepEqual(made.json.warnings, ["body/color: not a field that can be set; ignored"]);
    await rest.call("DELETE", `/api/geofences/${made.json.id}`, { token });
  });

  test("what is no zone is refused with every problem and its place", async () => {
    const cases: [unknown, RegExp[]][] = [
      [{ name: "x" }, [/^body\/geometry: is required/]],
      [{ name: " ", geometry: {} }, [/^body\/name: must not be blank/, /^body\/geometry\/type: must be Point/]],
      [{ name: "x", geometry: { ...circle, radius: 0 } }, [/^body\/geometry\/radius: must be a number of km over 0/]],
      [{ name: "x", geometry: { ...route, width: undefined } }, [/^body\/geometry\/width: is required/]],
      [
        { name: "x", geometry: { type: "Point", coordinates: [0, 91] } },
        [/^body\/geometry\/coordinates: its latitude/, /^body\/geometry\/radius: is required/],
      ],
      [
        { name: "x", geometry: { type: "MultiPolygon", coordinates: [] } },
        [/^body\/geometry\/type: a zone is one polygon/],
      ],
      [
        { name: "x", geometry: { type: "Feature", geometry: { type: "Point", coordinates: [0, 0] } } },
        [/^body\/geometry\/properties\/radius: is required/],
      ],
      [
        {
          name: "x",
          geometry: { type: "LineString", coordinates: Array.from({ length: 10_001 }, () => [0, 0]), width: 1 },
        },
        [/10000 positions at most/],
      ],
      [
        { name: "x", geometry: { type: "Polygon", coordinates: [ring.slice(0, 3)] } },
        [/^body\/geometry\/coordinates\/0/],
      ],
    ];
    for (const [body, patterns] of cases) {
      const { status, json } = await post(body);
      assert.deepEqual([status, json.error], [400, "invalid input"], JSON.stringify(body).slice(0, 200));
      assert.equal(json.details.length, patterns.length, json.details.join("; "));
      for (const [index, pattern] of patterns.entries()) assert.match(json.details[index], pattern);
    }
    assert.deepEqual((await rest.call("GET", "/api/geofences", { token })).json.geofences, []);
  });

  test("are their account's alone, which has its limit", async () => {
    const other = await rest.store.accounts.create(
      { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 5, language: "en" },
      0,
    );
    const stranger = await rest.userToken({ accountKey: other.key, privileges: ["admin"] });
    const { id } = (await post({ name: "Ours", geometry: circle })).json;
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? [] : { name: "Theirs", geometry: circle };
      assert.equal((await rest.call(method, `/api/geofences/${id}`, { token: stranger, body })).status, 404);
    }
    assert.deepEqual((await rest.call("GET", "/api/geofences", { token: stranger })).json.geofences, []);
  });
});

test("an account's large geofences have half a million positions at most", async () => {
  const account = (await rest.store.accounts.list())[0]?.key ?? 0;
  const zone = (positions: number) => ({
    kind: "route" as const,
    line: Array.from({ length: positions }, (_, index) => [-74 + index / 10_000, 4] as const),
    width: 0.1,
  });
  for (let index = 0; index < 50; index++)
    await rest.store.geofences.create(account, `g${index}`, { name: "Road", description: null, zone: zone(9995) }, 0);
  const geometry = (positions: number) => ({ type: "LineString", coordinates: zone(positions).line, width: 0.1 });
  const full = async (answer: ReturnType<typeof post>) => [(await answer).status, (await answer).json.error];
  assert.deepEqual(await full(post({ name: "x", geometry: geometry(251) })), [409, "geofence limit reached"]);
  const made = (await post({ name: "x", geometry: geometry(250) })).json;
  assert.deepEqual(await full(post({ name: "x", geometry: geometry(51) })), [409, "geofence limit reached"]);
  assert.deepEqual(await full(post({ name: "x", geometry: geometry(50) })), [201, null]);
  const put = (positions: number) =>
    rest.call("PUT", `/api/geofences/${made.id}`, { token, body: { name: "x", geometry: geometry(positions) } });
  assert.deepEqual(
    [await full(put(251)), await full(put(200))],
    [
      [409, "geofence limit reached"],
      [200, null],
    ],
  );
});

test("an account has as many rules at most as its quota says", async () => {
  const most = 1_000_000_000;
  const others = { users: most, groups: most, geofences: most, rulesOfDevice: most, webhooks: most, bytes: most };
  await rest.store.accounts.setUsualQuotas({ ...others, rules: 2000 });
  await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
  const rule = { name: "SOS", type: "sos", devices: ["d"] };
  const { id } = (await rest.call("POST", "/api/alertRules", { token, body: rule })).json;
  const stored = await rest.store.alertRules.find(id);
  assert.ok(stored);
  const { key: _key, id: _id, accountKey, revision: _revision, userKey, ...fields } = stored;
  const create = Array.from({ length: 1999 }, (_, index) => ({ id: `r${index}`, fields }));
  await rest.store.alertRules.exchange(accountKey, userKey, { remove: [], replace: [], create }, 0);
  const full = [409, "alert rule limit reached"];
  for (const [url, body] of [
    ["/api/alertRules", rule],
    [`/api/alertRules/${id}/copy`, { devices: ["d"] }],
  ] as const) {
    const answer = await rest.call("POST", url, { token, body });
    assert.deepEqual([answer.status, answer.json.error], full);
  }
  const replaced = await rest.call("PUT", "/api/devices/d/alertRules", { token, body: { rules: [rule] } });
  assert.deepEqual([replaced.status, replaced.json.rules.length], [200, 1]);
  assert.equal((await rest.call("GET", "/api/alertRules", { token })).json.rules.length, 1);
});

test("an account has a language: English unless set; its rules are read anew when it changes", async () => {
  const changed: number[] = [];
  rest.bus.subscribe((event) => {
    if (event.type === "rulesChanged") changed.push(event.accountKey);
  });
  const [account] = await rest.store.accounts.list();
  assert.equal((await rest.call("GET", "/api/account", { token })).json.language, "en");
  const path = `/api/admin/accounts/${account?.id}`;
  const operate = (method: string, body: unknown) => rest.call(method, path, { token: operatorKey, body });
  const patched = await operate("PATCH", [{ op: "replace", path: "/language", value: "es" }]);
  assert.equal(patched.json.account.language, "es");
  assert.equal((await rest.call("GET", "/api/account", { token })).json.language, "es");
  const replacement = { name: "First", timeZone: "Europe/Paris", licenses: 20 };
  assert.equal((await operate("PUT", { ...replacement, language: "es" })).json.account.language, "es");
  assert.equal((await operate("PUT", replacement)).json.account.language, "en");
  assert.equal((await operate("PUT", { ...replacement, language: "fr" })).json.error, "invalid input");
  assert.deepEqual(changed, Array(3).fill(account?.key));
});
