import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { defaultLimits } from "../../src/http/limits.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";

/**
 * What each call answers to each kind of caller, when its target is there. The columns, in this order:
 *
 * owner · admin · an admin of another account (`other`) · users without `admin` that see nothing (`plain`), a device
 * (`device`), a group (`group`); the same with `write` (`plainW`, `deviceW`, `groupW`) · whose token is good and who
 * may do nothing (`off`: disabled, or before or after its window) · whose token isn't (`none`: no token, forged,
 * expired, of a replaced or deleted key, of a deleted user) · the operator's key (`op`). To `createApiKey` and
 * `endSecondFactorOfUser` everybody gives the owner's key, and the account of `createOwnerApiKey` has no owner.
 */
const table = `
                    owner admin other plain device group plainW deviceW groupW off none op
  requestToken      400   400   400   400   400    400   400    400     400    400 400  400
  signIn            400   400   400   400   400    400   400    400     400    400 400  400
  readSession       200   200   200   200   200    200   200    200     200    403 200  200
  signOut           403   403   403   403   403    403   403    403     403    403 401  401
  listSignIns       403   403   403   403   403    403   403    403     403    403 401  401
  signOutEverywhere 403   403   403   403   403    403   403    403     403    403 401  401
  setFirstPassword  400   400   400   400   400    400   400    400     400    400 400  400
  changeOwnPassword 403   403   403   403   403    403   403    403     403    403 401  401
  makeSecondFactor  403   403   403   403   403    403   403    403     403    403 401  401
  endSecondFactor   403   403   403   403   403    403   403    403     403    403 401  401
  readPublicKeys    200   200   200   200   200    200   200    200     200    200 200  200
  live              200   200   200   200   200    200   200    200     200    200 200  200
  ready             200   200   200   200   200    200   200    200     200    200 200  200
  readAccount       200   200   200   200   200    200   200    200     200    403 401  401
  listDevices       200   200   200   200   200    200   200    200     200    403 401  401
  createDevice      409   409   409   403   403    403   403    409     409    403 401  401
  readDevice        200   200   404   404   200    200   404    200     200    403 401  401
  replaceDevice     200   200   404   403   403    403   404    200     200    403 401  401
  patchDevice       200   200   404   403   403    403   404    200     200    403 401  401
  changeDeviceId    200   200   404   403   403    403   404    200     200    403 401  401
  deleteDevice      200   200   404   403   403    403   404    200     200    403 401  401
  readLimits        200   200   404   404   200    200   404    200     200    403 401  401
  replaceLimits     200   200   404   403   403    403   404    200     200    403 401  401
  readLastLocation  200   200   404   404   200    200   404    200     200    403 401  401
  listLocations     200   200   404   404   200    200   404    200     200    403 401  401
  listReadings      200   200   404   404   200    200   404    200     200    403 401  401
  listTrips         200   200   404   404   200    200   404    200     200    403 401  401
  listDays          200   200   404   404   200    200   404    200     200    403 401  401
  exportLocations   200   200   404   404   200    200   404    200     200    403 401  401
  createShare       201   201   404   404   201    201   404    201     201    403 401  401
  listShares        200   200   200   200   200    200   200    200     200    403 401  401
  deleteShare       404   404   404   404   404    404   404    404     404    403 401  401
  readShared        404   404   404   404   404    404   404    404     404    404 404  404
  streamShared      404   404   404   404   404    404   404    404     404    404 404  404
  listAlerts        200   200   404   404   200    200   404    200     200    403 401  401
  stream            200   200   200   200   200    200   200    200     200    403 401  401
  listRefused       200   200   404   404   200    200   404    200     200    403 401  401
  readIdentity      200   200   404   404   200    200   404    200     200    403 401  401
  countOldPositionsOfDevice 200 200 404 404 200 200 404 200 200 403 401 401
  listGeofences     200   200   200   200   200    200   200    200     200    403 401  401
  createGeofence    201   201   201   403   403    403   201    201     201    403 401  401
  readGeofence      200   200   404   200   200    200   200    200     200    403 401  401
  replaceGeofence   200   200   404   403   403    403   200    200     200    403 401  401
  patchGeofence     200   200   404   403   403    403   200    200     200    403 401  401
  deleteGeofence    200   200   404   403   403    403   200    200     200    403 401  401
  listAlertRules    200   200   200   200   200    200   200    200     200    403 401  401
  createAlertRule   201   201   201   403   403    403   403    201     201    403 401  401
  readAlertRule     200   200   404   404   200    200   404    200     200    403 401  401
  replaceAlertRule  200   200   404   403   403    403   404    200     200    403 401  401
  patchAlertRule    200   200   404   403   403    403   404    200     200    403 401  401
  deleteAlertRule   200   200   404   403   403    403   404    200     200    403 401  401
  copyAlertRule     201   201   404   403   403    403   404    201     201    403 401  401
  tryAlertRule      200   200   404   404   200    200   404    200     200    403 401  401
  listDeviceAlertRules    200 200 404 404 200 200 404 200 200 403 401 401
  replaceDeviceAlertRules 200 200 404 403 403 403 404 200 200 403 401 401
  listNotifications 200   200   404   404   200    200   404    200     200    403 401  401
  listAccountAlerts 200   200   200   200   200    200   200    200     200    403 401  401
  acknowledgeAlerts 404   404   404   403   403    403   404    404     404    403 401  401
  closeAlerts       404   404   404   403   403    403   404    404     404    403 401  401
  listMutes         200   200   200   200   200    200   200    200     200    403 401  401
  readDeviceMute    200   200   404   404   200    200   404    200     200    403 401  401
  muteDevice        200   200   404   403   403    403   404    200     200    403 401  401
  unmuteDevice      200   200   404   403   403    403   404    200     200    403 401  401
  readAlertRuleMute 200   200   404   404   200    200   404    200     200    403 401  401
  muteAlertRule     200   200   404   403   403    403   404    200     200    403 401  401
  unmuteAlertRule   200   200   404   403   403    403   404    200     200    403 401  401
  listRecipients    200   200   200   403   403    403   403    403     403    403 401  401
  askRecipient      503   503   503   403   403    403   503    503     503    403 401  401
  deleteRecipient   404   404   404   403   403    403   403    403     403    403 401  401
  answerAsRecipient 409   409   409   409   409    409   409    409     409    409 409  409
  resendNotification 404  404   404   403   403    403   404    404     404    403 401  401
  sendCommand       200   200   404   404   403    403   403    403     403    403 401  401
  listCommands      200   200   404   404   200    200   404    200     200    403 401  401
  cancelCommand     404   404   404   404   403    403   403    403     403    403 401  401
  listGroups        200   200   200   200   200    200   200    200     200    403 401  401
  createGroup       201   201   201   403   403    403   403    403     201    403 401  401
  readGroup         200   200   404   404   404    200   404    404     200    403 401  401
  replaceGroup      200   200   404   403   403    403   404    404     200    403 401  401
  patchGroup        200   200   404   403   403    403   404    404     200    403 401  401
  deleteGroup       200   200   404   403   403    403   404    404     200    403 401  401
  listUsers         200   200   200   200   200    200   200    200     200    403 401  401
  createUser        409   409   409   403   403    403   403    403     403    403 401  401
  listCountries     200   200   200   200   200    200   200    200     200    403 401  401
  listTimeZones     200   200   200   200   200    200   200    200     200    403 401  401
  readUser          200   200   404   404   404    404   404    404     404    403 401  401
  replaceUser       200   200   404   403   403    403   403    403     403    403 401  401
  patchUser         200   200   404   403   403    403   403    403     403    403 401  401
  deleteUser        200   200   404   403   403    403   403    403     403    403 401  401
  createApiKey      201   403   404   404   404    404   404    404     404    403 401  401
  readApiKey        200   200   404   404   404    404   404    404     404    403 401  401
  endSecondFactorOfUser 409 403 404   404   404    404   404    404     404    403 401  401
  deleteApiKey      200   200   404   404   404    404   404    404     404    403 401  401
  listQuarantine    200   200   403   403   403    403   403    403     403    403 401  200
  traceDevice       200   200   404   403   403    403   403    403     403    403 401  401
  listAccounts      403   403   403   403   403    403   403    403     403    403 401  200
  createAccount     403   403   403   403   403    403   403    403     403    403 401  409
  readAccountById   403   403   403   403   403    403   403    403     403    403 401  200
  replaceAccount    403   403   403   403   403    403   403    403     403    403 401  200
  patchAccount      403   403   403   403   403    403   403    403     403    403 401  200
  countOldPositions 200   200   200   403   403    403   403    403     403    403 401  401
  countOldPositionsOfAccount 403 403 403 403 403 403 403 403    403    403 401  200
  createOwnerApiKey 403   403   403   403   403    403   403    403     403    403 401  404
`;

/** The texts that 401 and 403 have for these; for everybody else 403 is "permission denied". */
const refusals = { disabled: "user disabled", early: "user expired", late: "user expired" } as const;
const off = Object.keys(refusals);
const none = ["nobody", "forged", "expiredToken", "ofReplacedKey", "ofDeletedKey", "ofDeletedUser"];

const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const target = { name: "Target", email: "target@example.com", country: "CO", timeZone: "America/Bogota" };
const accountOwner = { ...target, email: "Owner@example.com" };
const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["held"] };
const zone = { name: "Depot", geometry: { type: "Point", coordinates: [-74, 4.7], radius: 0.5 } };
// In the future of the service's clock, which is a day ahead.
const mute = { until: new Date(Date.now() + 3 * 86_400_000).toISOString() };
const bodies: Readonly<Record<string, unknown>> = {
  requestToken: {},
  signIn: {},
  setFirstPassword: {},
  changeOwnPassword: {},
  makeSecondFactor: {},
  endSecondFactor: {},
  createDevice: { id: "held" },
  replaceDevice: {},
  patchDevice: [],
  changeDeviceId: { id: "held" },
  replaceLimits: {},
  listLocations: range,
  listReadings: range,
  listTrips: range,
  listDays: range,
  listAlerts: range,
  traceDevice: {},
  createShare: { deviceId: "held", expires: mute.until },
  sendCommand: { command: "x", ttlSeconds: 0 },
  createGeofence: zone,
  replaceGeofence: zone,
  patchGeofence: [],
  createAlertRule: rule,
  replaceAlertRule: rule,
  patchAlertRule: [],
  copyAlertRule: { devices: ["held"] },
  tryAlertRule: { ...range, deviceId: "held", rule },
  replaceDeviceAlertRules: { rules: [] },
  acknowledgeAlerts: { ids: ["none"] },
  closeAlerts: { ids: ["none"] },
  muteDevice: mute,
  muteAlertRule: mute,
  askRecipient: { to: "outside@example.com" },
  answerAsRecipient: { account: "none", to: "outside@example.com", code: "12345678", answer: "confirm" },
  createUser: target,
  replaceUser: target,
  patchUser: [],
  createGroup: { name: "Fleet" },
  replaceGroup: { name: "Fleet", devices: ["held"] },
  patchGroup: [],
  createAccount: { name: "X", timeZone: "Europe/Paris", licenses: 1, owner: accountOwner },
  replaceAccount: { name: "First", timeZone: "Europe/Paris", licenses: 100 },
  patchAccount: [],
};

const days = "?days=30";
const queries: ReadonlyMap<string, string> = new Map([
  ["countOldPositions", days],
  ["countOldPositionsOfDevice", days],
  ["countOldPositionsOfAccount", days],
  ["exportLocations", `?format=csv&${new URLSearchParams(range)}`],
]);

/** Calls to which everybody gives the owner's key. */
const asksForSecret: ReadonlySet<string> = new Set(["createApiKey", "endSecondFactorOfUser"]);

const rows = table
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));
const [columns = [], ...lines] = rows;
const expected = new Map(
  lines.map(([name = "", ...codes]) => [name, new Map(columns.map((column, index) => [column, Number(codes[index])]))]),
);

describe("who may do what", () => {
  let rest: Rest;
  let owner: string;
  let accountId: string;
  const tokens = new Map<string, string>();

  /** A call as the owner that must succeed. */
  async function own(method: string, url: string, body?: unknown) {
    const answer = await rest.call(method, url, { token: owner, body });
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.body}`);
    return answer.json;
  }

  /** A user whose token is live, and then something befalls it. */
  async function fallen(name: string, befall: (url: string) => Promise<unknown>) {
    const email = `${name}@example.com`;
    tokens.set(name, await rest.userToken({ email, privileges: ["admin"] }));
    await befall(`/api/users/${(await rest.store.users.findByEmail(email))?.id}`);
  }

  before(async () => {
    rest = await startRest({
      limits: {
        ...{ badTokensPerMinute: 100_000, tokenRequestsPerMinute: 1000, requestsPerMinute: 100_000 },
        sessions: { ...defaultLimits.sessions, triesPerMinute: 1000 },
      },
    });
    tokens.set("expiredToken", await rest.userToken({ privileges: ["admin"] }));
    rest.clock.pass(86_400_000);
    owner = await rest.ownerToken();
    const other = await rest.store.accounts.create(
      { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 5, language: "en" },
      rest.clock.now(),
    );
    accountId = other.id;
    tokens.set("owner", owner);
    tokens.set("admin", await rest.userToken({ privileges: ["admin"] }));
    tokens.set("other", await rest.userToken({ privileges: ["admin"], accountKey: other.key }));
    // It may send commands, to what it sees: nothing.
    tokens.set("plain", await rest.userToken({ privileges: ["read", "sendCommands"] }));
    tokens.set("device", await rest.userToken({ deviceId: "held" }));
    tokens.set("group", await rest.userToken({ group: "Fleet" }));
    tokens.set("plainW", await rest.userToken({ privileges: ["write"] }));
    tokens.set("deviceW", await rest.userToken({ privileges: ["write"], deviceId: "held" }));
    tokens.set("groupW", await rest.userToken({ privileges: ["write"], group: "Fleet" }));
    tokens.set("op", operatorKey);
    const set = (path: string, value: unknown) => (url: string) => own("PATCH", url, [{ op: "add", path, value }]);
    await fallen("disabled", set("/disabled", true));
    await fallen("early", set("/from", new Date(rest.clock.now() + 3_600_000).toISOString()));
    await fallen("late", set("/expires", new Date(rest.clock.now()).toISOString()));
    await fallen("ofReplacedKey", (url) => own("POST", `${url}/apiKey`, { presentSecret: rest.owner?.apiKey }));
    await fallen("ofDeletedKey", (url) => own("DELETE", `${url}/apiKey`));
    await fallen("ofDeletedUser", (url) => own("DELETE", url));
    const [header, payload] = owner.split(".");
    const [, , foreign] = (tokens.get("admin") ?? "").split(".");
    tokens.set("forged", `${header}.${payload}.${foreign}`);
  });
  after(() => endRest(rest));

  /** Makes what a call before has deleted, and gives the ids of all that calls are about. */
  async function targets() {
    const listed = async (of: string, list = of) => (await own("GET", `/api/${of}`))[list];
    const user = async () => (await listed("users")).find(({ email }: { email: string }) => email === target.email);
    const group = async () => (await listed("groups")).find(({ devices }: { devices: unknown }) => devices !== null);
    if ((await listed("devices")).length === 0) await own("POST", "/api/devices", { id: "held" });
    const fleet = (await group()) ?? (await own("POST", "/api/groups", { name: "Fleet", devices: ["held"] }));
    const who = (await user()) ?? (await own("POST", "/api/users", target));
    const { id: ruleId } = (await listed("alertRules", "rules"))[0] ?? (await own("POST", "/api/alertRules", rule));
    const { id: geofenceId } = (await listed("geofences"))[0] ?? (await own("POST", "/api/geofences", zone));
    const unknown = { commandId: "unknown", notificationId: "unknown", recipientId: "unknown", shareId: "unknown" };
    return { deviceId: "held", groupId: fleet.id, userId: who.id, accountId, ruleId, geofenceId, ...unknown };
  }

  test("every call, as every kind of caller", async () => {
    const operations = operationsOf(rest.http.openApi());
    assert.deepEqual([...operations.keys()].toSorted(), [...expected.keys()].toSorted());
    for (const [name, codes] of expected)
      for (const [column, code] of codes) {
        assert.ok(code >= 200, `${name} ${column}`);
        for (const caller of column === "off" ? off : column === "none" ? none : [column]) {
          const { method, path } = operations.get(name) ?? { method: "", path: "" };
          const ids = new Map(Object.entries(await targets()));
          const query = queries.get(name) ?? "";
          const url = path.replace(/\{(\w+)\}/g, (_, parameter: string) => ids.get(parameter) ?? "") + query;
          const token = tokens.get(caller);
          const body = asksForSecret.has(name) ? { presentSecret: rest.owner?.apiKey } : bodies[name];
          const answer = await rest.call(method, url, { body, ...(token !== undefined && { token }) });
          const what = `${name} as ${caller}: ${answer.body.slice(0, 200)}`;
          assert.equal(answer.status, code, what);
          const denied = new Map<string, string>(Object.entries(refusals)).get(caller) ?? "permission denied";
          if (code === 401) assert.equal(answer.json.error, "authentication failed, invalid token", what);
          if (code === 403) assert.equal(answer.json.error, denied, what);
          if (name === "readShared" || name === "streamShared") assert.equal(answer.json.error, "link not valid", what);
          else if (code === 401 || caller === "op") assert.equal(answer.body.includes("apiUsage"), false, what);
          else if (operations.get(name)?.open === false) {
            if (answer.json !== undefined && name !== "stream")
              assert.ok(answer.json.apiUsage >= answer.json.apiDailyUsage && answer.json.apiDailyUsage > 0, what);
            assert.match(String(answer.headers.ratelimit), /^"user";r=\d+;t=\d+$/, what);
          }
        }
      }
  });

  test("who may do nothing is told so on paths that there are not, too; who is unknown is told that there is no such path", async () => {
    for (const url of ["/api/nothing", "/api/devices/x/y/z"])
      for (const method of ["GET", "PUT"]) {
        for (const [caller, error] of Object.entries(refusals)) {
          const answer = await rest.call(method, url, { token: tokens.get(caller) ?? "" });
          assert.deepEqual([answer.status, answer.json.error], [403, error], caller);
          assert.ok(answer.json.apiUsage > 0);
        }
        for (const caller of [...none, "op"]) {
          const token = tokens.get(caller);
          const answer = await rest.call(method, url, token === undefined ? {} : { token });
          assert.deepEqual([answer.status, answer.json.error], [404, "Not Found"], caller);
        }
      }
    const undecodable = await rest.call("GET", "/api/devices/%zz", { token: tokens.get("disabled") ?? "" });
    assert.deepEqual([undecodable.status, undecodable.json.error], [403, "user disabled"]);
  });

  test("a user without admin lists what it sees, and makes only that", async () => {
    await own("POST", "/api/devices", { id: "unseen" });
    const token = await rest.userToken({ privileges: ["write"], deviceId: "mine" });
    const ids = async () =>
      (await rest.call("GET", "/api/devices", { token })).json.devices.map(({ id }: { id: string }) => id);
    assert.deepEqual(await ids(), []);
    assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "another" } })).status, 403);
    assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "mine" } })).status, 201);
    assert.deepEqual(await ids(), ["mine"]);
    assert.deepEqual((await rest.call("GET", "/api/devices", { token: tokens.get("other") ?? "" })).json.devices, []);
  });

  test("an inactive user is told so, with what was set to tell it", async () => {
    const expired = await rest.call("GET", "/api/devices", { token: tokens.get("late") ?? "" });
    assert.equal(expired.json.error, "user expired");
    assert.ok(expired.json.apiUsage > 0);
    const { apiKey, userName } = { apiKey: rest.owner?.apiKey ?? "", userName: "off@example.com" };
    const owner = await rest.store.users.findByEmail("owner@example.com");
    assert.ok(owner);
    const { key: _k, creation: _c, modification: _m, lastLogin, ...fields } = owner;
    assert.ok(lastLogin !== null);
    await rest.store.users.create(
      { ...fields, id: "off", email: userName, disabled: true, disabledMessage: "unpaid" },
      0,
    );
    const refused = await rest.call("POST", "/api/Auth/Token", { body: { userName, apiKey } });
    assert.equal(refused.status, 403);
    assert.equal(refused.json.error, "user disabled");
    assert.deepEqual(refused.json.details, ["unpaid"]);
    assert.equal(refused.json.apiUsage, 1);
    const wrong = await rest.call("POST", "/api/Auth/Token", { body: { userName, apiKey: "wrong" } });
    assert.equal(wrong.status, 401);
    assert.equal("apiUsage" in wrong.json, false);
  });
});

const asksNothing = (scheme: object) => Object.keys(scheme).length === 0;

/** The document's operations by name; `open`: they ask for no token. */
function operationsOf(document: object) {
  const { paths = {} } = document as {
    paths?: Record<string, Record<string, { operationId: string; security?: object[] }>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, security = [] }]) => [
        operationId,
        { path, method: method.toUpperCase(), open: security.length === 0 || security.some(asksNothing) },
      ]),
    ),
  );
}
