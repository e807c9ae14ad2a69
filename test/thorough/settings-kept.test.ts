import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { noFiles } from "../support/engine.ts";
import { until } from "../support/gateway.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { type Answer, type Beside, happensFirst, Running, seeThemAct, type Values } from "../support/settings.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";
import { locked, reportsOf, stalled } from "../support/stalled.ts";

const day = 86_400_000;
const operatorKey = "operator-key-of-these-tests-and-no-others";
const metricsToken = "metrics-of-these-tests-and-no-others";
const asOperator = { "operator.key": operatorKey };
const webhook = { webhook: [{ url: "http://localhost:9/", secret: "0123456789abcdef" }] };
const speeding = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"] };

/** The PostgreSQL server of the case that has one. */
let server: PostgresServer | undefined;

/** A folder in which a service has run some time ago. */
async function before({ directory }: Beside, ms: number, did: (service: Running) => Promise<void>): Promise<void> {
  const { now } = Date;
  const earlier = mock.method(Date, "now", () => now.call(Date) - ms);
  try {
    const service = await Running.start({}, directory);
    try {
      await did(service);
    } finally {
      await service.stop();
    }
  } finally {
    earlier.mock.restore();
  }
}

/** What is kept of a device, by its kind. */
const kept: Readonly<Record<string, (service: Running) => Promise<readonly unknown[]>>> = {
  commands: async (service) => (await service.done("GET", "/api/devices/d/commands")).commands,
  alerts: async (service) => {
    const range = { from: new Date(Date.now() - 9 * day), to: new Date() };
    return (await service.done("POST", "/api/devices/d/alerts", range)).alerts;
  },
  notices: async (service) => (await service.done("GET", "/api/devices/d/notifications")).notifications,
  refused: async (service) => (await service.done("GET", "/api/devices/d/refused")).refused,
};

/** What was left open by people, by the state of an alert. */
const open = async (service: Running): Promise<readonly unknown[]> =>
  (await service.done("GET", "/api/alerts?state=open")).alerts;

/**
 * Three days ago there was one of each kind; old ones are looked for some minutes after the start, for which the case
 * does not wait.
 */
function retention(kind: string, key = `${kind}.keepDays`, left = kept[kind]) {
  const looks: (() => void)[] = [];
  return {
    keys: [key],
    async sets(beside: Beside): Promise<Values> {
      await before(beside, 3 * day, async (service) => {
        await service.device("d");
        await service.done("POST", "/api/alertRules", { ...speeding, channels: webhook });
        await service.done("POST", "/api/devices/d/sendCommand", { command: "x", ttlSeconds: 0 }).catch(() => {});
        await service.report("d", Date.now(), "&speed=100");
        await service.report("d", 1000);
        await until(async () => {
          const [notice] = (await service.done("GET", "/api/devices/d/notifications")).notifications;
          return notice?.finishedAt !== null && notice !== undefined;
        });
        for (const [name, list] of Object.entries(kept)) assert.equal((await list(service)).length, 1, name);
      });
      const { setTimeout } = globalThis;
      mock.method(globalThis, "setTimeout", (run: () => void, ms?: number, ...more: []) => {
        if (ms === 300_000) looks.push(run);
        return setTimeout(run, ms, ...more);
      });
      return { [key]: 1 };
    },
    async acts(service: Running): Promise<void> {
      mock.restoreAll();
      // Nothing is deleted before a device has reported near our time.
      assert.equal(await service.report("d"), 200);
      for (const look of looks) look();
      await until(async () => (await left?.(service))?.length === 0);
    },
    beside: { "api.requestsPerMinute": 1_000_000_000 },
  };
}

async function metric(service: Running, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${metricsToken}` };
  const { json: text } = await service.request("GET", "/metrics", { headers });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

/** The token of another account's owner: the first account, the operator's own, has no caps. */
async function another(service: Running, licenses = 5): Promise<string> {
  const owner = { name: "Eva", email: "eva@example.org", country: "CO", timeZone: "America/Bogota" };
  const account = { name: "North", timeZone: "America/Bogota", licenses, owner };
  const made = await service.done("POST", "/api/admin/accounts", account, operatorKey);
  return (await service.token({ userName: owner.email, apiKey: made.owner.apiKey })).json.token;
}

/** A refusal of one of the account's devices' limits. */
async function limited(service: Running, limit: object): Promise<void> {
  const token = await another(service);
  await service.done("POST", "/api/devices", { id: "n" }, token);
  const { status, json } = await service.call("PUT", "/api/devices/n/limits", limit, token);
  assert.deepEqual([status, json.error], [409, "limit above the account's"]);
}

/** What becomes of the only notice of a device's alert. */
async function noticeOf(service: Running, token: string, channels: object): Promise<Answer["json"]> {
  const phone = { id: "n", min: "+573001112233" };
  await service.done("POST", "/api/devices", phone, token);
  await service.done("POST", "/api/alertRules", { ...speeding, devices: ["n"], channels }, token);
  assert.equal(await service.report("n", Date.now(), "&speed=100"), 200);
  let notice: Answer["json"];
  await until(async () => {
    [notice] = (await service.done("GET", "/api/devices/n/notifications", undefined, token)).notifications;
    return notice !== undefined && notice.finishedAt !== null;
  });
  return notice;
}

const mailPeer = async ({ closing }: Beside): Promise<Values> => ({
  "mail.host": "127.0.0.1",
  "mail.port": await closing(new SmtpPeer()).listen(),
  "mail.security": "opportunistic",
  "mail.from": "alerts@waybeam.example",
});

const smsPeer = async ({ closing }: Beside): Promise<Values> => {
  const peer = closing(new HttpPeer());
  await peer.listen();
  return {
    "sms.kind": "http",
    "sms.http.url": `http://127.0.0.1:${peer.port}/`,
    "sms.http.body": '{"text":"{text}"}',
    "sms.http.allowPrivate": "on",
  };
};

const fast = { "api.requestsPerMinute": 1_000_000_000 };

seeThemAct("kept", [
  {
    keys: ["data"],
    skip: noFiles,
    sets: ({ directory }) => ({ data: join(directory, "elsewhere") }),
    acts: async (_service, { data }) => assert.ok(existsSync(join(String(data), "waybeam.db"))),
  },
  {
    keys: ["secret.file"],
    sets: ({ directory }) => ({ "secret.file": join(directory, "sealing.key") }),
    async acts({ directory }, values) {
      assert.ok(existsSync(String(values["secret.file"])));
      assert.ok(!existsSync(join(directory, "secret.key")));
    },
  },
  {
    sets: { "owner.email": "ana@example.org", licenses: 2, "operator.key": operatorKey },
    async acts(service) {
      assert.equal(service.app.created?.userName, "ana@example.org");
      assert.equal((await service.done("GET", "/api/account")).licenses.total, 2);
      assert.equal((await service.call("GET", "/api/admin/accounts", undefined, operatorKey)).status, 200);
    },
  },
  {
    sets: { "refused.bytesPerDevice": 65_536 },
    beside: fast,
    async acts(service) {
      await service.device("d");
      const text = Array.from({ length: 10 }, (_, index) => `&n${index}=${"x".repeat(200)}`).join("");
      for (let at = 1; at <= 60; at++) assert.equal(await service.report("d", at * 1000, text), 200);
      const { refused } = await service.done("GET", "/api/devices/d/refused");
      assert.ok(refused.length > 0 && refused.length < 60, String(refused.length));
    },
  },
  {
    keys: ["store.url", "store.connections"],
    skip: noPostgres,
    sets: async ({ closing }) => {
      server = await PostgresServer.start();
      closing({ close: () => server?.dispose() });
      return { "store.url": await server.database(), "store.connections": 2 };
    },
    beside: fast,
    async acts(service) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => service.device(`d${index}`)));
      const ask = async (question: string) => Object.values((await server?.ask("test_1", question))?.[0] ?? {})[0];
      assert.equal(await ask("select count(*)::int from device"), 20);
      // And those of positions, of which there are four at most.
      const used = Number(await ask("select count(*)::int from pg_stat_activity where application_name = 'waybeam'"));
      assert.ok(used > 2 && used <= 6, String(used));
    },
  },
  {
    sets: { "store.packFromBytes": 16_384 },
    skip: noFiles,
    beside: { ...fast, "metrics.token": metricsToken },
    async acts(service) {
      await service.device("d");
      const all = reportsOf(service, 2000);
      await until(async () => (await metric(service, "waybeam_store_blocks")) > 0);
      await all.done;
    },
  },
  {
    sets: { "store.mostLogBytes": 16_384 },
    skip: noFiles,
    beside: fast,
    async acts(service) {
      await service.device("d");
      assert.equal(await service.report("d"), 200);
      const unlock = locked(service.directory);
      const all = reportsOf(service, 2000);
      await stalled(all);
      assert.ok(all.answered() < 2000);
      unlock();
      await all.done;
    },
  },
  {
    sets: { "follow.mostLagBytes": 16_384 },
    skip: noFiles,
    beside: fast,
    async acts(service) {
      await service.device("d");
      const unlock = locked(service.directory);
      // A day that ended must be stored before late records have a turn.
      assert.equal(await service.report("d", Date.now() - 86_400_000), 200);
      assert.equal(await service.report("d"), 200);
      const start = Date.now() - 3_600_000;
      let sent = 0;
      while (sent < 2000 && (await service.report("d", start + sent * 500)) === 200) sent++;
      assert.ok(sent > 10 && sent < 2000, String(sent));
      unlock();
      await until(async () => (await service.report("d", start + sent * 500)) === 200);
    },
  },
  {
    sets: { "commands.keptPerDevice": 100 },
    beside: { "api.requestsPerMinute": 1_000_000_000 },
    async acts(service) {
      await service.device("d");
      for (let made = 0; made < 103; made++)
        await service.call("POST", "/api/devices/d/sendCommand", { command: `c${made}`, ttlSeconds: 0 });
      const { commands } = await service.done("GET", "/api/devices/d/commands?limit=1000");
      assert.deepEqual([commands.length, commands[0].command, commands[99].command], [100, "c102", "c3"]);
    },
  },
  {
    sets: { "notices.keptPerDevice": 100 },
    beside: fast,
    async acts(service) {
      await service.device("d");
      const hooks = Array.from({ length: 20 }, (_, index) => ({
        ...webhook.webhook[0],
        url: `http://localhost:9/${index}`,
      }));
      await service.done("POST", "/api/alertRules", { ...speeding, channels: { webhook: hooks } });
      const list = async () => (await service.done("GET", "/api/devices/d/notifications?limit=1000")).notifications;
      const start = Date.now() - 60_000;
      for (let at = 0; at < 20; at++)
        assert.equal(await service.report("d", start + at * 1000, `&speed=${at % 2 === 0 ? 100 : 10}`), 200);
      // An alert and its notices are committed together.
      await until(async () => (await kept.alerts?.(service))?.length === 10);
      // Those that wait and are given up stay for a while, as a twentieth of all.
      await until(async () => (await list()).length <= 110);
      assert.ok((await list()).length >= 100);
    },
  },
  retention("refused"),
  retention("commands"),
  retention("alerts"),
  retention("notices"),
  retention("alerts", "alerts.closeAfterDays", open),
  {
    keys: ["alerts.graceSeconds"],
    async sets(beside) {
      await before(beside, 7_200_000, async (service) => {
        await service.device("d");
        await service.done("POST", "/api/alertRules", { ...speeding, type: "offline", parameters: { minutes: 5 } });
        assert.equal(await service.report("d"), 200);
      });
      return { "alerts.graceSeconds": 0 };
    },
    beside: fast,
    async acts(service) {
      const raised = until(async () => (await kept.alerts?.(service))?.length === 1);
      assert.ok(await happensFirst(raised, 40_000));
    },
  },
  {
    sets: { "alerts.noticesPerMinute": 1 },
    async acts(service) {
      await service.device("d");
      const urls = ["https://example.com/1", "https://example.com/2", "https://example.com/3"];
      const channels = { webhook: urls.map((url) => ({ url, secret: "a secret of sixteen" })) };
      await service.done("POST", "/api/alertRules", { ...speeding, channels });
      assert.equal(await service.report("d", Date.now(), "&speed=100"), 200);
      const list = async () => (await service.done("GET", "/api/devices/d/notifications")).notifications;
      await until(async () => (await list()).length > 0);
      assert.equal((await list()).length, 1);
    },
  },
  {
    sets: { "caps.deviceDailyEmails": 3 },
    beside: asOperator,
    acts: (service) => limited(service, { dailyEmailLimit: 4 }),
  },
  {
    sets: { "caps.deviceDailySms": 3 },
    beside: asOperator,
    acts: (service) => limited(service, { dailySmsLimit: 4 }),
  },
  {
    sets: { "caps.dailyEmails": 0 },
    beside: async (beside) => ({ ...asOperator, ...fast, ...(await mailPeer(beside)) }),
    async acts(service) {
      const token = await another(service);
      const notice = await noticeOf(service, token, { email: [{ to: "eva@example.org" }] });
      assert.equal(notice.state, "suppressed");
      assert.equal((await service.done("GET", "/api/account", undefined, token)).dailyEmails.limit, 0);
    },
  },
  {
    sets: { "caps.dailySms": 0 },
    beside: async (beside) => ({ ...asOperator, ...fast, ...(await smsPeer(beside)) }),
    async acts(service) {
      const token = await another(service);
      const notice = await noticeOf(service, token, { sms: [{ to: "+573001112233" }] });
      assert.equal(notice.state, "suppressed");
      const command = { command: "x", sms: true };
      const { status, json } = await service.call("POST", "/api/devices/n/sendCommand", command, token);
      assert.deepEqual([status, json.error], [429, "daily SMS limit reached"]);
    },
  },
  {
    sets: {
      "quotas.users": 1,
      "quotas.groups": 0,
      "quotas.geofences": 0,
      "quotas.rules": 2,
      "quotas.rulesOfDevice": 1,
      "quotas.webhooks": 0,
    },
    async acts(service) {
      await service.device("d");
      const refusal = async (path: string, body: object) => (await service.call("POST", path, body)).json.error;
      const point = { type: "Point", coordinates: [0, 0], radius: 1 };
      const user = { name: "Eva", email: "eva@example.org", country: "CO", timeZone: "America/Bogota" };
      assert.equal(await refusal("/api/users", user), "user limit reached");
      assert.equal(await refusal("/api/groups", { name: "G" }), "group limit reached");
      assert.equal(await refusal("/api/geofences", { name: "Z", geometry: point }), "geofence limit reached");
      const rules = "/api/alertRules";
      const sos = { name: "R", type: "sos", devices: ["d"] };
      assert.equal(await refusal(rules, { ...sos, channels: webhook }), "webhook limit reached");
      assert.equal(await refusal(rules, sos), null);
      assert.equal(await refusal(rules, sos), "device alert rule limit reached");
      assert.equal(await refusal(rules, { ...sos, devices: ["e"] }), null);
      assert.equal(await refusal(rules, { ...sos, devices: ["f"] }), "alert rule limit reached");
    },
  },
  {
    sets: { "quotas.bytes": 65_536 },
    async acts(service) {
      const devices = Array.from({ length: 1500 }, (_, index) => String(index).padStart(64, "x"));
      const { status, json } = await service.call("POST", "/api/groups", { name: "Large", devices });
      assert.deepEqual([status, json.error], [409, "storage limit reached"]);
    },
  },
  {
    sets: { "caps.identifiersPerLicense": 1 },
    beside: asOperator,
    async acts(service) {
      const token = await another(service, 21);
      const make = async (name: string) => {
        const aliases = Array.from({ length: 5 }, (_, index) => `${name}${index}`);
        return (await service.call("POST", "/api/devices", { id: name, aliases }, token)).status;
      };
      assert.deepEqual([await make("a"), await make("b"), await make("c"), await make("d")], [201, 201, 201, 409]);
    },
  },
]);
