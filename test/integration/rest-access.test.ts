import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";

const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const fix = (index: number): Fix => ({
  type: "fix",
  time: Date.UTC(2026, 0, 1) + index * 1000,
  valid: true,
  latitude: 1,
  longitude: 2,
  alarms: [],
  readings: {},
  attributes: {},
});

/** Sends raw bytes, and gives all that comes back until the server closes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

/** The store with another one in place of a part's methods. */
function spoiled(store: Store, devices: Partial<Store["devices"]>): Store {
  const real = store.devices;
  return {
    ...store,
    devices: {
      create: (...input) => real.create(...input),
      find: (...input) => real.find(...input),
      nextExpiry: (...input) => real.nextExpiry(...input),
      expiredBetween: (...input) => real.expiredBetween(...input),
      identify: (...input) => real.identify(...input),
      list: (...input) => real.list(...input),
      replace: (...input) => real.replace(...input),
      remove: (...input) => real.remove(...input),
      ...devices,
    },
  };
}

describe("who may do what", () => {
  let rest: Rest;
  let groupId: string;
  let userId: string;
  const somebody = { name: "Target", email: "target@example.com", country: "CO", timeZone: "America/Bogota" };
  const tokens = new Map<string, string>();
  const callers = [
    "nobody",
    "plain",
    "writer",
    "holder",
    "holdingWriter",
    "member",
    "memberWriter",
    "admin",
    "owner",
    "stranger",
    "disabled",
    "expired",
    "operator",
  ] as const;
  type Caller = (typeof callers)[number];

  before(async () => {
    rest = await startRest({ limits: { tokenRequestsPerMinute: 1000 } });
    const other = await rest.store.accounts.create(
      { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 5 },
      rest.clock.now(),
    );
    tokens.set("owner", await rest.ownerToken());
    tokens.set("plain", await rest.userToken({ privileges: ["read", "sendCommands"] }));
    tokens.set("writer", await rest.userToken({ privileges: ["write"] }));
    tokens.set("holder", await rest.userToken({ deviceId: "held" }));
    tokens.set("holdingWriter", await rest.userToken({ privileges: ["write"], deviceId: "held" }));
    tokens.set("member", await rest.userToken({ group: "Fleet" }));
    tokens.set("memberWriter", await rest.userToken({ privileges: ["write"], group: "Fleet" }));
    tokens.set("admin", await rest.userToken({ privileges: ["admin"] }));
    tokens.set("stranger", await rest.userToken({ privileges: ["admin"], accountKey: other.key }));
    tokens.set("expired", await rest.userToken({ expires: rest.clock.now() + 3_600_000, privileges: ["admin"] }));
    tokens.set("disabled", "");
    tokens.set("operator", operatorKey);
    rest.clock.pass(3_600_000);
    const created = await rest.call("POST", "/api/devices", { token: tokens.get("owner") ?? "", body: { id: "held" } });
    assert.equal(created.status, 201);
    const fleet = { name: "Fleet", devices: ["held"] };
    groupId = (await rest.call("POST", "/api/groups", { token: tokens.get("owner") ?? "", body: fleet })).json.id;
    userId = (await rest.call("POST", "/api/users", { token: tokens.get("owner") ?? "", body: somebody })).json.id;
  });
  after(() => endRest(rest));

  /** What each call answers to each caller. What a caller is not named with is the first code. */
  const operating: Partial<Record<Caller, number>> = Object.fromEntries(
    callers.filter((caller) => caller !== "operator").map((caller) => [caller, caller === "nobody" ? 401 : 403]),
  );
  /** The operator has no user, so nothing of an account is its own: where it is not named, it is nobody. */
  const withoutUser: readonly string[] = [
    "requestToken",
    "live",
    "ready",
    "metrics",
    "listQuarantine",
    "readPublicKeys",
  ];
  const seeing = { nobody: 401, plain: 404, writer: 404, stranger: 404, expired: 403 } as const;
  const writing = { nobody: 401, plain: 403, writer: 404, holder: 403, stranger: 404, expired: 403 } as const;
  const signedIn = { nobody: 401, expired: 403 } as const;
  const adminOnly = {
    nobody: 401,
    plain: 403,
    writer: 403,
    holder: 403,
    holdingWriter: 403,
    member: 403,
    memberWriter: 403,
    expired: 403,
  } as const;
  /** A user reads itself and no other, unless it is an admin of the account. */
  const ofAdmins = {
    nobody: 401,
    plain: 404,
    writer: 404,
    holder: 404,
    holdingWriter: 404,
    member: 404,
    memberWriter: 404,
    stranger: 404,
    expired: 403,
  } as const;
  const seeingGroup = { ...ofAdmins, member: 200, memberWriter: 200 };
  const writingGroup = { ...seeingGroup, plain: 403, holder: 403, member: 403 };
  /** What is not said of users of a group is as for those that hold the group's device. */
  const alike: Partial<Record<Caller, Caller>> = { member: "holder", memberWriter: "holdingWriter" };
  const table: Record<string, { ok: number; body?: unknown; but: Partial<Record<Caller, number>> }> = {
    requestToken: { ok: 400, body: {}, but: {} },
    live: { ok: 200, but: {} },
    ready: { ok: 200, but: {} },
    metrics: { ok: 200, but: {} },
    readAccount: { ok: 200, but: { nobody: 401, expired: 403 } },
    listDevices: { ok: 200, but: { nobody: 401, expired: 403 } },
    createDevice: {
      ok: 409,
      body: { id: "held" },
      but: { nobody: 401, plain: 403, writer: 403, holder: 403, expired: 403 },
    },
    readDevice: { ok: 200, but: seeing },
    replaceDevice: { ok: 200, body: {}, but: writing },
    patchDevice: { ok: 200, body: [], but: writing },
    readLimits: { ok: 200, but: seeing },
    replaceLimits: { ok: 200, body: {}, but: writing },
    readLastLocation: { ok: 200, but: seeing },
    listLocations: { ok: 200, body: range, but: seeing },
    listAlerts: { ok: 200, body: range, but: seeing },
    listRefused: { ok: 200, but: seeing },
    listQuarantine: {
      ok: 200,
      but: { nobody: 401, plain: 403, writer: 403, holder: 403, holdingWriter: 403, stranger: 403, expired: 403 },
    },
    traceDevice: {
      ok: 200,
      body: {},
      but: { nobody: 401, plain: 403, writer: 403, holder: 403, holdingWriter: 403, stranger: 404, expired: 403 },
    },
    sendCommand: {
      ok: 200,
      body: { command: "x", ttlSeconds: 0 },
      but: { ...adminOnly, plain: 404, stranger: 404 },
    },
    listCommands: { ok: 200, but: seeing },
    cancelCommand: { ok: 404, but: { ...adminOnly, plain: 404 } },
    listAccounts: { ok: 200, but: operating },
    createAccount: { ok: 400, body: {}, but: operating },
    readAccountById: { ok: 404, but: operating },
    replaceAccount: { ok: 404, body: { name: "X", timeZone: "Europe/Paris", licenses: 1 }, but: operating },
    patchAccount: { ok: 404, body: [], but: operating },
    listUsers: { ok: 200, but: signedIn },
    createUser: { ok: 400, body: {}, but: adminOnly },
    listCountries: { ok: 200, but: signedIn },
    listTimeZones: { ok: 200, but: signedIn },
    readUser: { ok: 200, but: ofAdmins },
    replaceUser: { ok: 200, body: somebody, but: { ...adminOnly, stranger: 404 } },
    patchUser: { ok: 200, body: [], but: { ...adminOnly, stranger: 404 } },
    createApiKey: { ok: 201, but: ofAdmins },
    deleteApiKey: { ok: 200, but: ofAdmins },
    readPublicKeys: { ok: 200, but: {} },
    // The admin's call removes the user.
    deleteUser: { ok: 404, but: { ...adminOnly, admin: 200 } },
    listGroups: { ok: 200, but: signedIn },
    createGroup: { ok: 201, body: { name: "Fleet" }, but: { ...adminOnly, memberWriter: 201 } },
    readGroup: { ok: 200, but: seeingGroup },
    replaceGroup: { ok: 200, body: { name: "Fleet", devices: ["held"] }, but: writingGroup },
    patchGroup: { ok: 200, body: [], but: writingGroup },
    // Last: the calls of users that hold the device, or whose group does, remove what they see.
    deleteDevice: { ok: 404, but: { ...writing, writer: 404, holdingWriter: 200, memberWriter: 404 } },
    deleteGroup: { ok: 404, but: { ...writingGroup, memberWriter: 200 } },
  };

  test("every call, as every caller", async () => {
    const { paths } = rest.http.openApi() as { paths: Record<string, Record<string, { operationId: string }>> };
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
    );
    assert.deepEqual(operations.map(({ operationId }) => operationId).toSorted(), Object.keys(table).toSorted());
    for (const [name, { ok, body, but }] of Object.entries(table)) {
      const operation = operations.find(({ operationId }) => operationId === name);
      assert.ok(operation);
      for (const caller of callers) {
        const token = tokens.get(caller);
        if (token === "") continue;
        const url = operation.path
          .replace("{deviceId}", "held")
          .replace("{accountId}", "unknown")
          .replace("{groupId}", groupId)
          .replace("{commandId}", "unknown")
          .replace("{userId}", userId);
        const answer = await rest.call(operation.method, url, { body, ...(token === undefined ? {} : { token }) });
        const lost = caller === "operator" && but !== operating && !withoutUser.includes(name);
        assert.equal(
          answer.status,
          lost ? 401 : (but[caller] ?? but[alike[caller] ?? caller] ?? ok),
          `${name} as ${caller}: ${answer.body.slice(0, 200)}`,
        );
      }
    }
  });

  test("a user without admin lists what it sees, and makes only that", async () => {
    const admin = tokens.get("admin") ?? "";
    await rest.call("POST", "/api/devices", { token: admin, body: { id: "unseen" } });
    const token = await rest.userToken({ privileges: ["write"], deviceId: "mine" });
    const ids = async () =>
      (await rest.call("GET", "/api/devices", { token })).json.devices.map(({ id }: { id: string }) => id);
    assert.deepEqual(await ids(), []);
    assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "another" } })).status, 403);
    assert.equal((await rest.call("POST", "/api/devices", { token, body: { id: "mine" } })).status, 201);
    assert.deepEqual(await ids(), ["mine"]);
    assert.deepEqual(
      (await rest.call("GET", "/api/devices", { token: tokens.get("stranger") ?? "" })).json.devices,
      [],
    );
  });

  test("an inactive user is told so, with what was set to tell it", async () => {
    const expired = await rest.call("GET", "/api/devices", { token: tokens.get("expired") ?? "" });
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

describe("limits", () => {
  test("requests a minute for each user; each one is counted", async () => {
    const rest = await startRest({ limits: { requestsPerMinute: 3 } });
    const token = await rest.ownerToken();
    const codes: number[] = [];
    for (let index = 0; index < 5; index++) codes.push((await rest.call("GET", "/api/devices", { token })).status);
    assert.deepEqual(codes, [200, 200, 200, 429, 429]);
    const unknown = await rest.call("GET", "/api/devices/x", { token });
    assert.equal(unknown.json.error, "Too Many Requests");
    assert.equal(unknown.json.apiUsage, 7);
    assert.ok(Number(unknown.headers["retry-after"]) > 0 && Number(unknown.headers["retry-after"]) <= 60);
    assert.match(String(unknown.headers.ratelimit), /^"user";r=0;t=\d+$/);
    const other = await rest.userToken({});
    assert.equal((await rest.call("GET", "/api/devices", { token: other })).status, 200);
    rest.clock.pass(60_000);
    assert.equal((await rest.call("GET", "/api/devices", { token })).status, 200);
    await endRest(rest);
  });

  test("token requests a minute for each address and name, whatever they hold", async () => {
    const rest = await startRest({ limits: { tokenRequestsPerMinute: 3 } });
    const ask = (body: unknown) => rest.call("POST", "/api/Auth/Token", { body });
    assert.equal((await ask({ userName: "a", apiKey: "b" })).status, 401);
    assert.equal((await ask({})).status, 400);
    const third = await ask({ userName: "a", apiKey: "b" });
    assert.equal(third.headers.ratelimit, '"address";r=0;t=60, "name";r=1;t=60');
    const refused = await ask({ userName: rest.owner?.userName, apiKey: rest.owner?.apiKey });
    assert.equal(refused.status, 429);
    assert.equal(refused.json.error, "Too Many Requests");
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    await endRest(rest);
  });

  test("daily results of a device: a page ends with a cursor, then 429 until the next UTC day; also after a restart", async () => {
    let rest = await startRest({ limits: { dailyResults: 25 } });
    const { directory } = rest;
    let token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    await rest.report("d", ...Array.from({ length: 40 }, (_, index) => fix(index)));
    const ask = (fields: object) =>
      rest.call("POST", "/api/devices/d/locations", { token, body: { ...range, ...fields } });
    assert.equal((await ask({ limit: 10 })).json.locations.length, 10);
    const cut = (await ask({})).json;
    assert.equal(cut.locations.length, 15);
    assert.ok(cut.nextCursor);
    await rest.stop();
    rest = await startRest({ limits: { dailyResults: 25 }, directory });
    assert.equal(rest.owner, undefined);
    const refused = await ask({});
    assert.equal(refused.status, 429);
    assert.equal(refused.json.error, "daily results limit reached");
    const wait = Number(refused.headers["retry-after"]);
    assert.ok(wait > 0 && wait <= 86_400);
    rest.clock.pass(wait * 1000);
    token = await rest.userToken({ privileges: ["admin"] });
    const rest2 = (await ask({ cursor: cut.nextCursor })).json;
    assert.equal(rest2.locations.length, 25);
    assert.equal("nextCursor" in rest2, false);
    await endRest(rest);
  });

  test("readers at the same time never get more than the day has", async () => {
    const rest = await startRest({ limits: { dailyResults: 100 } });
    const token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    await rest.report("d", ...Array.from({ length: 60 }, (_, index) => fix(index)));
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => rest.call("POST", "/api/devices/d/locations", { token, body: range })),
    );
    const read = answers.reduce((sum, { json }) => sum + (json.locations?.length ?? 0), 0);
    assert.ok(read <= 100 && read >= 60, String(read));
    assert.ok(answers.some(({ status }) => status === 429));
    await endRest(rest);
  });

  test("usage counters are exact, and go on after a restart", async () => {
    let rest = await startRest();
    const { directory } = rest;
    const token = await rest.ownerToken();
    await Promise.all(Array.from({ length: 50 }, () => rest.call("GET", "/api/devices", { token })));
    await rest.stop();
    rest = await startRest({ directory });
    const { json } = await rest.call("GET", "/api/devices", { token });
    assert.deepEqual([json.apiUsage, json.apiDailyUsage], [52, 52]);
    rest.clock.pass(86_400_000 - 3_600_000);
    const later = await rest.call("GET", "/api/devices", { token });
    assert.equal(later.json.apiUsage, 53);
    await endRest(rest);
  });
});

describe("when things fail", () => {
  test("the store is down: 503 with Retry-After; it goes on by itself", async () => {
    let down = false;
    const rest = await startRest({
      spoil: (store) =>
        spoiled(store, {
          find: async (id) => {
            if (down) throw new StoreUnavailable("disk full", { cause: new Error("secret cause") });
            return store.devices.find(id);
          },
        }),
    });
    const token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "d" } });
    down = true;
    const answer = await rest.call("GET", "/api/devices/d", { token });
    assert.equal(answer.status, 503);
    assert.equal(answer.json.error, "Service Unavailable");
    assert.ok(Number(answer.headers["retry-after"]) > 0);
    assert.ok(!answer.body.includes("disk") && !answer.body.includes("secret"));
    down = false;
    assert.equal((await rest.call("GET", "/api/devices/d", { token })).status, 200);
    await endRest(rest);
  });

  test("an unforeseen error: 500 with nothing of its cause, which is in the log under the request's id", async () => {
    const rest = await startRest({
      spoil: (store) => spoiled(store, { find: () => Promise.reject(new Error("secret cause")) }),
    });
    const token = await rest.ownerToken();
    const answer = await rest.call("GET", "/api/devices/d/lastLocation", {
      token,
      headers: { "x-request-id": "find-me" },
    });
    assert.equal(answer.status, 500);
    assert.equal(answer.json.error, "Internal Server Error");
    assert.deepEqual(Object.keys(answer.json).toSorted(), ["apiDailyUsage", "apiUsage", "error", "success"]);
    const line = rest.logged.find((text) => text.includes("find-me"));
    assert.ok(line?.includes("secret cause"), rest.logged.join());
    assert.ok(!rest.logged.join().includes(token));
    await endRest(rest);
  });

  test("what takes too long: 408", async () => {
    const rest = await startRest({
      limits: { timeoutSeconds: 1 },
      spoil: (store) => spoiled(store, { list: () => new Promise(() => {}) }),
    });
    const answer = await rest.call("GET", "/api/devices", { token: await rest.ownerToken() });
    assert.equal(answer.status, 408);
    assert.equal(answer.json.error, "Request Timeout");
    await endRest(rest);
  });

  test("not ready: 503", async () => {
    const rest = await startRest({ ready: false });
    assert.equal((await rest.call("GET", "/health/ready")).status, 503);
    assert.equal((await rest.call("GET", "/health/live")).status, 200);
    await endRest(rest);
  });
});

describe("on a socket", () => {
  let rest: Rest;
  let port: number;
  let token: string;
  before(async () => {
    rest = await startRest({ limits: { timeoutSeconds: 1 } });
    port = (await rest.http.start()).port;
    token = await rest.ownerToken();
  });
  after(() => endRest(rest));

  const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));

  test("what is no HTTP, too much of it, or never complete is answered in the envelope", async () => {
    const cases: [string, number, string][] = [
      ["nonsense\r\n\r\n", 400, "Bad Request"],
      [`GET /api/devices HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 400, "Bad Request"],
      [
        "POST /api/Auth/Token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        400,
        "Bad Request",
      ],
      ["CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "Not Found"],
      [
        "POST /api/Auth/Token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        408,
        "Request Timeout",
      ],
      ["GET /api/devices HTTP/1.1\r\nHos", 408, "Request Timeout"],
      ["GET /api/devices HTTP/1.1\r\nConnection: close\r\n\r\n", 401, "authentication failed, invalid token"],
      ["GET /api/devices/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "Bad Request"],
      ["PROPFIND /api/devices HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "Not Found"],
      [
        "GET /api/devices HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n",
        401,
        "authentication failed, invalid token",
      ],
    ];
    const answers = await Promise.all(cases.map(([text]) => raw(port, text)));
    for (const [index, [text, code, error]] of cases.entries()) {
      const answer = answers[index] ?? "";
      assert.ok(answer.startsWith(`HTTP/1.1 ${code} `), `${text.slice(0, 60)}: ${answer.slice(0, 200)}`);
      assert.deepEqual({ success: bodyOf(answer).success, error: bodyOf(answer).error }, { success: false, error });
    }
  });

  test("a reader that goes away in the middle of a history ends it, and the service goes on", async () => {
    await rest.call("POST", "/api/devices", { token, body: { id: "long" } });
    for (let part = 0; part < 10; part++)
      await rest.report("long", ...Array.from({ length: 2000 }, (_, index) => fix(part * 2000 + index)));
    const body = JSON.stringify(range);
    const request = `POST /api/devices/long/locations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(request));
      socket.once("data", () => socket.destroy());
      socket.on("close", () => resolve());
    });
    const whole = await fetch(`http://127.0.0.1:${port}/api/devices/long/locations`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    const { locations } = (await whole.json()) as { locations: unknown[] };
    assert.equal(locations.length, 20_000);
  });
});
