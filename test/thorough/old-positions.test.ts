import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deleteOldPositions } from "../../src/domain/old-positions.ts";
import { Retention } from "../../src/domain/retention.ts";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { silentLog } from "../support/silent-log.ts";

const day = 86_400_000;
const days = 40;

let rest: Rest;
let token: string;
let account: string;

const call = (method: string, url: string, body?: unknown, as = token) => rest.call(method, url, { token: as, body });
const today = () => Math.floor(rest.clock.now() / day) * day;

/** A report of noon, so many days ago; further from where the device began, the younger it is. */
function fix(ago: number, changes: Partial<Fix> = {}): Fix {
  const common = { alarms: [], readings: {}, attributes: { ago: String(ago) } };
  const place = { latitude: 4.5 + (days - ago) / 100, longitude: -74, speed: 50, valid: true };
  return { type: "fix", time: today() - ago * day + (ago === 0 ? 1000 : day / 2), ...place, ...common, ...changes };
}

async function agosOf(id: string, list = "locations", as = token): Promise<readonly number[]> {
  const range = { from: new Date(0).toISOString(), to: new Date(today() + day).toISOString() };
  const { json } = await call("POST", `/api/devices/${id}/${list}`, range, as);
  return json[list].map(({ attributes }: { attributes: { ago: string } }) => Number(attributes.ago));
}

const upTo = (ago: number) => Array.from({ length: ago + 1 }, (_, at) => ago - at);

/** Lets retention look through all devices. */
async function retain(): Promise<void> {
  const keepDays = { keepDays: 36_500 };
  let looks = 0;
  const { store, clock, keeping } = rest;
  const retained: typeof store.devices.retained = (...asked) => {
    looks++;
    return store.devices.retained(...asked);
  };
  const { commands, users, alerts, notices, mutes, signIns, shares, refused } = store;
  const retention = new Retention(
    {
      store: {
        commands,
        users,
        alerts,
        notices,
        mutes,
        signIns,
        shares,
        refused,
        devices: { retained, daysOf: (key) => store.devices.daysOf(key) },
      },
      ...{ clock, clockTrust: { mayDelete: () => true }, positionKeeper: keeping, log: silentLog },
      settings: {
        commands: keepDays,
        alerts: { ...keepDays, closeAfterDays: 7 },
        notices: keepDays,
        refused: keepDays,
      },
    },
    { firstMs: 1, everyMs: 1, pauseMs: 1 },
  );
  retention.start();
  // The second look begins when the first is over.
  while (looks < 2) await sleep(5);
  await retention.stop();
}

const patchAccount = (value: unknown) =>
  call("PATCH", `/api/admin/accounts/${account}`, [{ op: "add", path: "/positionDays", value }], operatorKey);
const patchDevice = (id: string, value: unknown) =>
  call("PATCH", `/api/devices/${id}`, [{ op: "add", path: "/positionDays", value }]);

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  token = await rest.ownerToken();
  account = (await call("GET", "/api/account")).json.id;
  for (const id of ["one", "own", "removed"]) {
    await call("POST", "/api/devices", { id });
    // Each report is a chunk of its own.
    for (let ago = days; ago >= 0; ago--) await rest.report(id, fix(ago));
  }
});
after(() => endRest(rest));

describe("how long positions are kept", () => {
  test("is for ever, unless an account or a device says otherwise; what leaves the days out keeps them", async () => {
    assert.equal((await call("GET", "/api/account")).json.positionDays, null);
    assert.equal((await call("GET", "/api/devices/one")).json.device.positionDays, null);
    assert.deepEqual(await agosOf("one"), upTo(days));
    for (const value of [0, 36_501, 1.5, "30"]) {
      assert.equal((await patchAccount(value)).status, 400);
      assert.equal((await patchDevice("one", value)).status, 400);
    }
    assert.equal((await patchAccount(100)).json.account.positionDays, 100);
    assert.equal((await call("GET", "/api/account")).json.positionDays, 100);
    const { name, timeZone } = (await call("GET", "/api/account")).json;
    const put = { name, timeZone, licenses: 1000 };
    const path = `/api/admin/accounts/${account}`;
    assert.equal((await call("PUT", path, put, operatorKey)).json.account.positionDays, 100);
    assert.equal(
      (await call("PUT", path, { ...put, positionDays: null }, operatorKey)).json.account.positionDays,
      null,
    );
    assert.equal((await patchAccount(100)).status, 200);
    const removal = [{ op: "remove", path: "/positionDays" }];
    assert.equal((await call("PATCH", path, removal, operatorKey)).json.account.positionDays, null);
    assert.equal((await patchDevice("one", 100)).json.device.positionDays, 100);
    assert.equal((await call("PUT", "/api/devices/one", { name: "One" })).json.device.positionDays, 100);
    assert.equal((await call("PATCH", "/api/devices/one", removal)).json.device.positionDays, null);
    assert.equal((await call("PATCH", "/api/account", [])).status, 404);
    const writer = await rest.userToken({ privileges: ["read"] });
    assert.equal((await call("PATCH", "/api/devices/one", removal, writer)).status, 403);
  });

  test("can be looked at before it is set, of a device and of an account without those that have days of their own", async () => {
    await patchDevice("own", 35);
    const before = new Date(today() - 10 * day).toISOString();
    const from = `${new Date(fix(days).time ?? 0).toISOString().slice(0, 10)}T00:00:00.000Z`;
    const to = new Date(fix(11).time ?? 0).toISOString();
    const ofDevice = { days: 10, before, devices: 1, positions: days - 10, from, to };
    assert.deepEqual((await call("GET", "/api/devices/one/oldPositions?days=10")).json.oldPositions, ofDevice);
    const ofAccount = { ...ofDevice, devices: 2, positions: 2 * (days - 10) };
    assert.deepEqual((await call("GET", "/api/account/oldPositions?days=10")).json.oldPositions, ofAccount);
    const path = `/api/admin/accounts/${account}/oldPositions`;
    assert.deepEqual((await call("GET", `${path}?days=10`, undefined, operatorKey)).json.oldPositions, ofAccount);
    const none = (await call("GET", "/api/account/oldPositions?days=100")).json.oldPositions;
    assert.deepEqual([none.devices, none.positions, none.from, none.to], [0, 0, null, null]);
    for (const query of ["", "?days=0", "?days=x", "?days=1.5"])
      assert.equal((await call("GET", `/api/account/oldPositions${query}`)).status, 400, query);
    assert.equal(
      (await call("GET", "/api/admin/accounts/none/oldPositions?days=1", undefined, operatorKey)).status,
      404,
    );
  });

  test("hides older positions at once; they are deleted in the background, and nothing else changes", async () => {
    const last = (await call("GET", "/api/devices/one/lastLocation")).body;
    const mileages = async () => {
      const range = { from: new Date(today() - 10 * day).toISOString(), to: new Date(today() + day).toISOString() };
      return (await call("POST", "/api/devices/one/locations", range)).json.locations;
    };
    const kept = await mileages();
    await patchAccount(10);
    for (const list of ["locations", "readings"]) {
      assert.deepEqual(await agosOf("one", list), upTo(10), list);
      assert.deepEqual(await agosOf("own", list), upTo(35), list);
    }
    await retain();
    assert.equal(rest.keeping.deleted, 2 * (days - 10) + (days - 35));
    assert.deepEqual((await call("GET", "/api/account/oldPositions?days=10")).json.oldPositions.positions, 0);
    assert.deepEqual(await agosOf("one"), upTo(10));
    assert.deepEqual(await mileages(), kept);
    const usage = /"api(Daily)?Usage":\d+/g;
    assert.equal((await call("GET", "/api/devices/one/lastLocation")).body.replace(usage, ""), last.replace(usage, ""));
    // Once more there is nothing to do.
    await retain();
    assert.equal(rest.keeping.deleted, 2 * (days - 10) + (days - 35));
  });

  test("shows nothing again that was deleted, and loses nothing that comes late and is not old", async () => {
    await rest.report("one", fix(20), fix(30), fix(11));
    await rest.followed();
    assert.deepEqual(await agosOf("one"), upTo(10));
    const time = (fix(10).time ?? 0) + 1000;
    const mileage = async () => (await call("GET", "/api/devices/one/lastLocation")).json.lastLocation.milleage;
    const driven = await mileage();
    await rest.report("one", fix(10, { time, latitude: fix(9).latitude }), fix(5));
    await rest.followed();
    // A detour's worth is added once, by the one that was late.
    assert.ok(Math.abs((await mileage()) - driven) < 2);
    assert.deepEqual(await agosOf("one"), [10, ...upTo(10)]);
  });

  test("may be raised or removed: what was deleted stays away", async () => {
    await patchAccount(null);
    assert.deepEqual(await agosOf("one"), [10, ...upTo(10)]);
    await rest.report("one", fix(20));
    await patchDevice("one", 3);
    assert.deepEqual(await agosOf("one"), upTo(3));
    await patchDevice("one", null);
    assert.deepEqual(await agosOf("one"), [10, ...upTo(10)]);
  });

  test("is asked for again before each step of deleting, so that nothing goes once the days are raised or removed", async () => {
    const ids = ["first", "raised", "removed too", "last"].map((id) => id.replace(" ", "-"));
    for (const id of ids) {
      await call("POST", "/api/devices", { id, positionDays: 10 });
      for (let ago = days; ago >= 0; ago--) await rest.report(id, fix(ago));
    }
    let pauses = 0;
    const pause = async () => {
      if (pauses++ > 0) return;
      assert.equal((await patchDevice("raised", days)).status, 200);
      assert.equal((await patchDevice("removed-too", null)).status, 200);
    };
    const { store, clock, keeping: keeper } = rest;
    const deleting = { devices: store.devices, keeper, clock, log: silentLog };
    const deleted = await deleteOldPositions(deleting, { ends: () => false, pause });
    assert.equal(deleted, 2 * (days - 10));
    for (const id of ids) {
      await patchDevice(id, null);
      assert.deepEqual(await agosOf(id), id === "raised" || id === "removed-too" ? upTo(days) : upTo(10), id);
    }
    for (const id of ids) await call("DELETE", `/api/devices/${id}`);
  });

  test("goes for a rule that is tried over the history", async () => {
    const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 20 } };
    const range = { from: new Date(0).toISOString(), to: new Date(today() + day).toISOString() };
    const trial = async () => {
      const { status, json, body } = await call("POST", "/api/alertRules/try", { deviceId: "own", rule, ...range });
      assert.equal(status, 200, body);
      return json.positions;
    };
    assert.equal(await trial(), 36);
    const early = { from: new Date(0).toISOString(), to: new Date(today() - 39 * day).toISOString() };
    const { json } = await call("POST", "/api/alertRules/try", { deviceId: "own", rule, ...early });
    assert.deepEqual([json.success, json.positions, json.alerts], [true, 0, 0]);
  });
});
