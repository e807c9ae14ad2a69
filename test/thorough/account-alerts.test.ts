import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Alert } from "../../src/model/alert.ts";
import { commitAlerts, newAlert } from "../contract/store/alert-values.ts";
import { now } from "../contract/store/harness.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
const keys = new Map<string, number>();

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  token = await rest.ownerToken();
  for (const id of ["truck", "van", "bus"]) await makeDevice(id);
});
after(() => endRest(rest));

async function makeDevice(id: string): Promise<number> {
  assert.equal((await rest.call("POST", "/api/devices", { token, body: { id, name: `The ${id}` } })).status, 201);
  const key = (await rest.store.devices.find(id))?.key ?? 0;
  keys.set(id, key);
  return key;
}

async function raise(device: string, seconds: number, changes: Partial<Alert> = {}): Promise<Alert> {
  const alert = newAlert(keys.get(device) ?? 0, seconds, changes);
  await commitAlerts(rest.store, alert.device, [alert]);
  return alert;
}

interface Shown {
  readonly id: string;
  readonly deviceId: string;
  readonly state: string;
  readonly [name: string]: unknown;
}

async function list(query: string, as = token): Promise<{ alerts: Shown[]; nextCursor?: string }> {
  const { status, json } = await rest.call("GET", `/api/alerts${query}`, { token: as });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const ids = ({ alerts }: { readonly alerts: readonly Shown[] }) => alerts.map(({ id }) => id);

test("the alerts of an account come newest first, in pages, in what the user sees, and as it filters", async () => {
  const rule = await rest.call("POST", "/api/alertRules", {
    token,
    body: { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["truck"] },
  });
  assert.equal(rule.status, 201);
  const ruleKey = (await rest.store.alertRules.find(rule.json.id))?.key ?? 0;
  const made: Alert[] = [];
  for (let index = 0; index < 12; index++)
    made.push(
      await raise(["truck", "van", "bus"][index % 3] ?? "", (index * 7) % 12, {
        critical: index % 4 === 0,
        type: index % 2 === 0 ? "speedOver" : "sos",
        ruleKey: index < 3 ? ruleKey : 10_000,
      }),
    );
  const newest = made.toSorted((one, other) => other.time - one.time);
  const idsOf = (wanted: (alert: Alert) => boolean) => newest.filter(wanted).map(({ id }) => id);
  const whole = await list("");
  assert.deepEqual(
    ids(whole),
    idsOf(() => true),
  );
  const [first] = whole.alerts;
  assert.deepEqual([first?.deviceName, first?.state], [`The ${first?.deviceId}`, "open"]);
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await list(`?limit=5${cursor}`);
    paged.push(...ids(page));
    if (page.nextCursor === undefined) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  assert.deepEqual(paged, ids(whole));
  const key = (id: string) => keys.get(id);
  assert.deepEqual(
    ids(await list("?device=truck,bus")),
    idsOf(({ device }) => device !== key("van")),
  );
  assert.deepEqual(
    ids(await list("?critical=true")),
    idsOf(({ critical }) => critical),
  );
  assert.deepEqual(
    ids(await list("?critical=false&type=sos")),
    idsOf((one) => !one.critical && one.type === "sos"),
  );
  assert.deepEqual(
    ids(await list(`?rule=${rule.json.id}`)),
    idsOf((one) => one.ruleKey === ruleKey),
  );
  const [from, to] = [now + 3000, now + 8000];
  const range = `?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  assert.deepEqual(
    ids(await list(range)),
    idsOf(({ time }) => time >= from && time <= to),
  );
  assert.deepEqual(
    ids(await list(`${range}&device=van`)),
    idsOf(({ device, time }) => device === key("van") && time >= from && time <= to),
  );

  const group = await rest.call("POST", "/api/groups", {
    token,
    body: { name: "Two", devices: ["van", "bus", "none"] },
  });
  assert.deepEqual(
    ids(await list(`?group=${group.json.id}`)),
    idsOf(({ device }) => device !== key("truck")),
  );
  const holder = await rest.userToken({ group: "Two" });
  assert.deepEqual(
    ids(await list("", holder)),
    idsOf(({ device }) => device !== key("truck")),
  );
  assert.deepEqual(
    ids(await list(`?device=van&group=${group.json.id}`, holder)),
    idsOf(({ device }) => device === key("van")),
  );
  assert.deepEqual(ids(await list("", await rest.userToken({}))), []);
  const unseen = await rest.call("GET", "/api/alerts?device=truck", { token: holder });
  assert.deepEqual([unseen.status, unseen.json.error], [404, "device not found"]);
});

test("a user of many devices among many alerts finds its own, page by page", async () => {
  const own: string[] = [];
  for (let index = 0; index < 17; index++) {
    const key = await makeDevice(`many-${index}`);
    const alert = newAlert(key, -100_000 - index);
    own.push(alert.id);
    await commitAlerts(rest.store, key, [alert]);
  }
  const noise = keys.get("truck") ?? 0;
  const alerts = Array.from({ length: 2500 }, (_, index) => newAlert(noise, -50_000 - index));
  await commitAlerts(rest.store, noise, alerts);
  const devices = own.map((_, index) => `many-${index}`);
  const made = await rest.call("POST", "/api/groups", { token, body: { name: "Many", devices } });
  assert.equal(made.status, 201);
  const holder = await rest.userToken({ group: "Many" });
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await list(`?limit=7${cursor}`, holder);
    paged.push(...ids(page));
    if (page.nextCursor === undefined) break;
    assert.ok(page.alerts.length > 0);
    cursor = `&cursor=${page.nextCursor}`;
  }
  assert.deepEqual(paged, own);
});

test("what is followed comes in the order in which it was found, late ones too, and nothing twice", async () => {
  const begin = await list("?follow=true");
  assert.deepEqual(begin.alerts, []);
  const late = await raise("truck", -900_000, { late: true });
  const fresh = await raise("van", 900_000);
  const next = await list(`?follow=true&cursor=${begin.nextCursor}`);
  assert.deepEqual(ids(next), [late.id, fresh.id]);
  const nothing = await list(`?follow=true&cursor=${next.nextCursor}`);
  assert.deepEqual(nothing.alerts, []);
  const third = await raise("bus", 0);
  assert.deepEqual(ids(await list(`?follow=true&cursor=${nothing.nextCursor}`)), [third.id]);
  const own = await list(`?follow=true&cursor=${(await list("?follow=true&device=van")).nextCursor}&device=van`);
  assert.deepEqual(own.alerts, []);
  const other = await rest.call("GET", `/api/alerts?cursor=${nothing.nextCursor}`, { token });
  assert.equal(other.status, 400);
});

test("alerts are acknowledged and closed, once, in a user's name; all that are named or none", async () => {
  const [one, two] = [await raise("truck", 1), await raise("van", 2)];
  const act = (name: string, body: object, as = token) => rest.call("POST", `/api/alerts/${name}`, { token: as, body });
  const done = await act("acknowledge", { ids: [one.id], note: "I call the driver" });
  assert.equal(done.status, 200);
  const [shown] = done.json.alerts;
  assert.deepEqual(
    [shown.state, shown.acknowledgement.note, shown.deviceId],
    ["acknowledged", "I call the driver", "truck"],
  );
  assert.match(shown.acknowledgement.user, /@/);
  const again = await act("acknowledge", { ids: [one.id], note: "Me too" });
  assert.equal(again.json.alerts[0].acknowledgement.note, "I call the driver");
  const both = await act("close", { ids: [two.id, one.id, two.id] });
  assert.deepEqual(
    both.json.alerts.map(({ state, closing }: Record<string, unknown>) => [state, Object(closing).note]),
    [
      ["closed", null],
      ["closed", null],
    ],
  );
  assert.equal((await act("acknowledge", { ids: [two.id] })).json.alerts[0].acknowledgement, undefined);
  const three = await raise("bus", 3);
  const unknown = await act("close", { ids: [three.id, "nobody's"] });
  assert.deepEqual([unknown.status, unknown.json.error, unknown.json.details], [404, "alert not found", ["nobody's"]]);
  const stranger = await rest.userToken({ deviceId: "van", privileges: ["write"] });
  assert.equal((await act("close", { ids: [three.id] }, stranger)).status, 404);
  assert.equal((await act("close", { ids: [three.id] }, await rest.userToken({ deviceId: "bus" }))).status, 403);
  assert.ok(ids(await list("?state=open")).includes(three.id));
  assert.ok(!ids(await list("?state=open")).includes(two.id));
  assert.deepEqual((await act("close", { ids: [] })).status, 400);
});

test("what is over closes by itself, a critical one once it is acknowledged too", async () => {
  const key = keys.get("bus") ?? 0;
  const rule = (ruleKey: number, seconds: number, changes: Partial<Alert> = {}) =>
    newAlert(key, seconds, { ruleKey, ...changes });
  const [plain, critical, seen, other] = [
    rule(21, 1),
    rule(22, 1, { critical: true }),
    rule(23, 1, { critical: true }),
    rule(24, 1),
  ];
  await commitAlerts(rest.store, key, [plain, critical, seen, other]);
  assert.equal((await rest.call("POST", "/api/alerts/acknowledge", { token, body: { ids: [seen.id] } })).status, 200);
  const over = rule(21, 60, { phase: "over" });
  const ended = [21, 22, 23].map((ruleKey) => ({ ruleKey, time: now + 60_000, foundAt: now + 61_000 }));
  await commitAlerts(rest.store, key, [over], [], ended);
  const states = async () => new Map((await list("?device=bus")).alerts.map((alert) => [alert.id, alert]));
  const after = await states();
  assert.deepEqual(
    [plain, critical, seen, other, over].map(({ id }) => after.get(id)?.state),
    ["closed", "open", "closed", "open", "closed"],
  );
  assert.deepEqual(Object(after.get(plain.id)?.closing).user, null);
  const end = new Date(now + 60_000).toISOString();
  assert.deepEqual([after.get(critical.id)?.endedAt, after.get(other.id)?.endedAt], [end, undefined]);
  const closes = await rest.call("POST", "/api/alerts/acknowledge", { token, body: { ids: [critical.id] } });
  assert.equal(closes.json.alerts[0].state, "closed");
  const left = (await list("?state=open&critical=false&limit=10000")).alerts.length;
  assert.equal(await rest.store.alerts.closeOld(now + 1_000_000_000, 10_000, now), left);
  assert.deepEqual((await list("?state=open&critical=false")).alerts, []);
});

test("what makes no sense is refused", async () => {
  for (const query of [
    "?state=gone",
    "?type=none",
    "?critical=yes",
    "?from=x",
    "?limit=0",
    "?cursor=x",
    "?device=a b",
    "?follow=false",
  ])
    assert.equal((await rest.call("GET", `/api/alerts${query}`, { token })).status, 400, query);
  const range = "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z";
  assert.equal((await rest.call("GET", `/api/alerts${range}`, { token })).status, 400);
  assert.equal((await rest.call("GET", "/api/alerts?rule=none", { token })).status, 404);
  assert.equal((await rest.call("GET", "/api/alerts?group=none", { token })).status, 404);
});
