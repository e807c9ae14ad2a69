import assert from "node:assert/strict";
import { mock } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { selfSigned } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/gateway.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { type Answer, type Beside, happensFirst, Running, seeThemAct, type Values } from "../support/settings.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const fast = { "api.requestsPerMinute": 1_000_000_000 };

let hook: HttpPeer;
let mail: SmtpPeer;

async function withHook({ closing }: Beside): Promise<HttpPeer> {
  hook = closing(new HttpPeer());
  await hook.listen();
  return hook;
}

/** The settings for an SMS gateway, which is the hook. */
async function withGateway(beside: Beside): Promise<Values> {
  const { port } = await withHook(beside);
  return {
    ...fast,
    "sms.kind": "http",
    "sms.http.url": `http://127.0.0.1:${port}/`,
    "sms.http.body": '{"text":"{text}"}',
    "sms.http.allowPrivate": "on",
  };
}

/** A mail server, and what the service has to know of it. */
async function withMail({ closing }: Beside, options?: ConstructorParameters<typeof SmtpPeer>[0]): Promise<Values> {
  mail = closing(new SmtpPeer(options));
  const port = await mail.listen();
  return {
    ...fast,
    "mail.host": "127.0.0.1",
    "mail.port": port,
    "mail.security": "opportunistic",
    "mail.from": "alerts@waybeam.example",
  };
}

const without = (values: Values, ...keys: readonly string[]): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

/** A device that is too fast, and a rule that tells so by these channels. */
async function speeds(service: Running, channels: object, devices: readonly string[] = ["d"]): Promise<void> {
  const phone = { min: "+573001112233" };
  for (const id of devices) await service.device(id, phone);
  const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices, channels };
  await service.done("POST", "/api/alertRules", rule);
  for (const id of devices) assert.equal(await service.report(id, Date.now(), "&speed=100"), 200);
}

/** The device's only notice, once it has ended. */
async function ended(service: Running): Promise<Answer["json"]> {
  let notice: Answer["json"];
  await until(async () => {
    [notice] = (await service.done("GET", "/api/devices/d/notifications")).notifications;
    return notice !== undefined && notice.finishedAt !== null;
  });
  return notice;
}

const resend = (service: Running, { id }: Answer["json"]) =>
  service.call("POST", `/api/devices/d/notifications/${id}/resend`);

const toHook = (host = "127.0.0.1") => ({
  webhook: [{ url: `http://${host}:${hook.port}/`, secret: "0123456789abcdef" }],
});
const toMail = (to = "ana@example.org") => ({ email: [{ to }] });

/** A service that sends one mail, which arrives. */
async function mailArrives(service: Running): Promise<void> {
  await speeds(service, toMail());
  await mail.until(() => mail.taken.length === 1);
}

/** Lines of the log of what a service does with these settings. */
async function logged(values: Values, directory: string, did: (service: Running) => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const { write } = process.stdout;
  const written = mock.method(process.stdout, "write", (chunk: unknown, ...more: []) => {
    if (typeof chunk !== "string" || !chunk.startsWith('{"level"'))
      return write.call(process.stdout, String(chunk), ...more);
    lines.push(chunk);
    return true;
  });
  try {
    const service = await Running.start(values, directory);
    await did(service).finally(() => service.stop());
  } finally {
    written.mock.restore();
  }
  return lines;
}

const metricsToken = "metrics-of-these-tests-and-no-others";

seeThemAct("notices", [
  {
    sets: { "webhooks.allowPrivate": "on" },
    beside: async (beside) => {
      await withHook(beside);
      return fast;
    },
    async acts(service) {
      await speeds(service, toHook());
      await until(() => hook.seen.length === 1);
    },
  },
  {
    // The default, with `on` forced upon it.
    sets: { "webhooks.allowPrivate": "off" },
    beside: async (beside) => {
      await withHook(beside);
      return fast;
    },
    async acts(service) {
      // An address is refused with its rule, a name at the call.
      await assert.rejects(speeds(service, toHook(), ["e"]), /400/);
      await speeds(service, toHook("localhost"));
      assert.equal((await ended(service)).state, "failed");
      assert.equal(hook.seen.length, 0);
    },
  },
  {
    sets: { "notices.mapLink": "https://map.example/{latitude}/{longitude}" },
    beside: withMail,
    async acts(service) {
      await mailArrives(service);
      assert.match(mail.taken[0]?.raw ?? "", /https:\/\/map\.example\/4\.5/);
    },
  },
  {
    sets: { "notices.mostResends": 0 },
    beside: withMail,
    async acts(service) {
      await mailArrives(service);
      assert.equal((await resend(service, await ended(service))).status, 409);
    },
  },
  {
    sets: { "notices.resendsPerMinute": 0 },
    beside: withMail,
    async acts(service) {
      await mailArrives(service);
      assert.equal((await resend(service, await ended(service))).status, 429);
    },
  },
  {
    keys: ["telegram.url"],
    sets: async (beside) => ({ "telegram.url": `http://127.0.0.1:${(await withHook(beside)).port}` }),
    beside: fast,
    async acts(service) {
      await service.device("d");
      const token = `1:${"a".repeat(35)}`;
      const channels = { telegram: [{ chat: "-1", token }] };
      const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"], channels };
      await service.done("POST", "/api/alertRules", rule);
      await service.report("d", Date.now(), "&speed=100");
      await until(() => hook.seen.length > 0);
      assert.equal(hook.seen[0]?.url, `/bot${token}/sendMessage`);
    },
  },
  {
    sets: { "notices.pauseMinutes": 0 },
    beside: withGateway,
    async acts(service) {
      await service.device("d");
      const channels = { sms: [{ to: "+573001112233" }] };
      const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"], channels };
      await service.done("POST", "/api/alertRules", rule);
      for (const [at, speed] of [100, 10, 100].entries())
        await service.report("d", Date.now() - 60_000 + at * 1000, `&speed=${speed}`);
      await until(() => hook.seen.length === 2);
    },
  },
  {
    sets: { "notices.smsParts": 3 },
    beside: withGateway,
    async acts(service) {
      await service.device("d", { name: "long name ".repeat(20).trim() });
      const channels = { sms: [{ to: "+573001112233" }] };
      const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"], channels };
      await service.done("POST", "/api/alertRules", { ...rule, text: "very long text ".repeat(15).trim() });
      await service.report("d", Date.now(), "&speed=100");
      await until(() => hook.seen.length === 1);
      assert.ok(JSON.parse(hook.seen[0]?.body ?? "").text.length > 160);
    },
  },
  {
    keys: ["mail.host", "mail.port", "mail.security", "mail.from"],
    sets: async (beside) => without(await withMail(beside), "api.requestsPerMinute"),
    beside: fast,
    async acts(service) {
      await mailArrives(service);
      assert.equal(mail.taken[0]?.from, "alerts@waybeam.example");
    },
  },
  {
    keys: ["mail.user", "mail.password"],
    sets: () => ({ "mail.user": "waybeam", "mail.password": "open sesame" }),
    async beside(beside) {
      const { cert, key } = selfSigned();
      const values = await withMail(beside, { secure: true, cert, key });
      setDefaultCACertificates([...getCACertificates(), cert]);
      Object.assign(mail, { user: "waybeam", password: "open sesame" });
      return { ...values, "mail.security": "tls" };
    },
    async acts(service) {
      await mailArrives(service);
      assert.equal(mail.taken[0]?.user, "waybeam");
    },
  },
  {
    sets: { "mail.connections": 2 },
    beside: withMail,
    async acts(service) {
      const devices = Array.from({ length: 12 }, (_, index) => `d${index}`);
      mail.delayMs = () => 200;
      await speeds(service, toMail(), devices);
      await mail.until(() => mail.taken.length === devices.length);
      assert.equal(mail.mostOpen, 2);
    },
  },
  {
    sets: { "mail.timeoutSeconds": 1 },
    beside: withMail,
    async acts(service) {
      mail.mail = () => "silent";
      await speeds(service, toMail());
      const tried = until(async () => {
        const [notice] = (await service.done("GET", "/api/devices/d/notifications")).notifications;
        return notice?.attempts === 1 && notice.reason !== null;
      });
      assert.ok(await happensFirst(tried, 12_000));
    },
  },
  {
    keys: ["metrics.listen"],
    sets: async () => ({ "metrics.listen": `127.0.0.1:${await freePort()}` }),
    acts: async (_service, values) =>
      assert.equal((await fetch(`http://${values["metrics.listen"]}/metrics`)).status, 200),
  },
  {
    sets: { "metrics.token": metricsToken },
    async acts(service) {
      const headers = { authorization: `Bearer ${metricsToken}` };
      assert.equal((await service.request("GET", "/metrics", { headers })).status, 200);
      assert.equal((await service.request("GET", "/metrics")).status, 401);
    },
  },
  {
    // The one of the case itself says nothing, for the test's own output; those that it starts speak.
    sets: { "log.level": "silent" },
    async acts(service) {
      const levels = async (level: string) => {
        const lines = await logged({ "log.level": level }, `${service.directory}/${level}`, async (other) => {
          assert.equal(await other.report("stranger"), 404);
        });
        return new Set(lines.map((line) => JSON.parse(line).level));
      };
      assert.ok((await levels("debug")).has("debug"));
      assert.ok(!(await levels("info")).has("debug"));
      assert.equal((await levels("silent")).size, 0);
    },
  },
]);
