import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { mock } from "node:test";
import { setTimeout } from "node:timers/promises";
import { selfSigned } from "../support/certificate.ts";
import { EventStream } from "../support/event-stream.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/gateway.ts";
import { type Answer, happensFirst, portTaken, type Running, seeThemAct } from "../support/settings.ts";

const wrong = { userName: "nobody@example.org", apiKey: "wrong" };

/** A command without a reply. One that may be queued is waited for half a second only, being bytes as they are. */
const unanswered = { command: "RESET", ttlSeconds: 0 };

/** A plain connection to the API, and what came on it. */
async function plain(service: Running, from = "127.0.0.1"): Promise<{ socket: Socket; said: () => string }> {
  const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1", localAddress: from });
  let said = "";
  socket.on("data", (chunk: Buffer) => {
    said += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  await once(socket, "connect");
  return { socket, said: () => said };
}

/** A connection that asks nothing is closed when another comes, which is answered. */
async function makesRoom(service: Running, from: string): Promise<void> {
  const first = await plain(service);
  const closed = once(first.socket, "close");
  const second = await plain(service, from);
  second.socket.write("GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await until(() => second.said().startsWith("HTTP/1.1 200"));
  // By default it is closed only after 15 s without a request.
  assert.ok(await happensFirst(closed, 8000));
}

/** What GET /health/live answers over TLS: a status, or why there is none. */
function overTls(port: number, ca: string, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<unknown> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path: "/health/live", ca, maxVersion, agent: false as const };
    request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", () => resolve("refused"))
      .end();
  });
}

/** What the API answers who asks for a link of so many days to a device. */
async function linked(service: Running, days: number): Promise<Answer> {
  await service.call("POST", "/api/devices", { id: "d" });
  const expires = new Date(Date.now() + days * 86_400_000).toISOString();
  return service.call("POST", "/api/shares", { deviceId: "d", expires });
}

/** How many trips the API finds in reports so many seconds ago with such a speed. */
async function tripsOf(service: Running, reports: readonly (readonly [ago: number, speed: number])[]): Promise<number> {
  await service.device("d");
  for (const [ago, speed] of reports)
    assert.equal(await service.report("d", Date.now() - ago * 1000, `&speed=${speed}`), 200);
  const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  return (await service.done("POST", "/api/devices/d/trips", range)).trips.length;
}

/** A command that its device never answers: its request is under way for as long as the service waits. */
async function underWay(service: Running): Promise<{ answer: Promise<unknown>; token: string }> {
  await service.device("990000000000001");
  const tracker = await service.tracker("990000000000001");
  const heard = tracker.received.length;
  const token = await service.owner();
  const answer = service.call("POST", "/api/devices/990000000000001/sendCommand", unanswered);
  await until(() => tracker.received.length > heard);
  return { answer, token };
}

/**
 * Has an answer of 670 KB wait for its reader, behind more than the buffers of the system take. Gives what further
 * requests for it are told.
 */
async function unread(service: Running): Promise<() => Promise<Answer>> {
  const devices = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(64, "x"));
  const { id } = await service.done("POST", "/api/groups", { name: "large", devices });
  const { socket } = await plain(service);
  socket.pause();
  const token = await service.owner();
  socket.write(`GET /api/groups/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(30));
  return () => service.call("GET", `/api/groups/${id}`);
}

const patient = { "api.requestsPerMinute": 1_000_000_000, "answers.unreadSeconds": 60 };

seeThemAct("http", [
  {
    sets: { "http.connections": 1 },
    acts: (service) => makesRoom(service, "127.0.0.2"),
  },
  {
    sets: { "http.connectionsPerAddress": 1 },
    acts: (service) => makesRoom(service, "127.0.0.1"),
  },
  {
    keys: ["http.tls.certificate", "http.tls.key", "http.tls.minVersion"],
    sets: ({ directory }) => {
      const pair = selfSigned();
      const [certificate, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
      writeFileSync(certificate, pair.cert);
      writeFileSync(key, pair.key, { mode: 0o600 });
      return { "http.tls.certificate": certificate, "http.tls.key": key, "http.tls.minVersion": "TLSv1.3" };
    },
    async acts({ app }, values) {
      assert.match(app.url, /^https:/);
      const ca = readFileSync(String(values["http.tls.certificate"]), "utf8");
      const port = Number(new URL(app.url).port);
      assert.deepEqual([await overTls(port, ca, "TLSv1.3"), await overTls(port, ca, "TLSv1.2")], [200, "refused"]);
    },
  },
  {
    sets: { "http.host": "127.0.0.2" },
    beside: async (beside) => ({ "http.port": await portTaken(beside) }),
    async acts({ app }) {
      assert.equal(new URL(app.url).hostname, "127.0.0.2");
      assert.equal((await fetch(`${app.url}/health/live`)).status, 200);
    },
  },
  {
    keys: ["http.port"],
    sets: async () => ({ "http.port": await freePort() }),
    async acts(_service, values) {
      assert.equal((await fetch(`http://127.0.0.1:${values["http.port"]}/health/live`)).status, 200);
    },
  },
  {
    sets: { "http.bodyLimit": 1024 },
    async acts(service) {
      const body = JSON.stringify(wrong);
      const ask = async (size: number) =>
        (
          await service.request("POST", "/api/Auth/Token", {
            headers: { "content-type": "application/json" },
            body: body.padEnd(size),
          })
        ).status;
      assert.deepEqual([await ask(1024), await ask(1025)], [401, 400]);
    },
  },
  {
    sets: { "http.timeoutSeconds": 1 },
    async acts(service) {
      const { socket, said } = await plain(service);
      socket.write(
        "POST /api/Auth/Token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
      );
      const refused = until(() => said().startsWith("HTTP/1.1 408"));
      assert.ok(await happensFirst(refused, 15_000));
    },
  },
  {
    sets: { "http.trustProxy": "loopback" },
    beside: { "api.tokenRequestsPerMinute": 1 },
    async acts(service) {
      const ask = async (client: string) => (await service.token(wrong, { "x-forwarded-for": client })).status;
      const other = { userName: "another@example.org", apiKey: "wrong" };
      assert.equal(await ask("192.0.2.1"), 401);
      assert.equal((await service.token(other, { "x-forwarded-for": "192.0.2.2" })).status, 401);
      assert.equal((await service.token(other, { "x-forwarded-for": "192.0.2.1" })).status, 429);
    },
  },
  {
    sets: { "http.mapStyle": "https://tiles.example.com/style.json" },
    async acts({ url }) {
      const answer = await fetch(`${url}/console.json`);
      assert.deepEqual(await answer.json(), { mapStyle: "https://tiles.example.com/style.json" });
      assert.match(
        answer.headers.get("content-security-policy") ?? "",
        /connect-src 'self' https:\/\/tiles\.example\.com;/,
      );
    },
  },
  {
    sets: { "http.mapOrigins": "https://a.example.com, https://b.example.com:8443" },
    async acts({ url }) {
      const policy = (await fetch(`${url}/console.json`)).headers.get("content-security-policy") ?? "";
      assert.match(policy, /img-src 'self' data: blob: https:\/\/a\.example\.com https:\/\/b\.example\.com:8443;/);
    },
  },
  {
    sets: { "api.badTokensPerMinute": 2 },
    async acts(service) {
      const ask = async () => (await service.call("GET", "/api/devices", undefined, "bad")).status;
      assert.deepEqual([await ask(), await ask(), await ask()], [401, 401, 429]);
    },
  },
  {
    sets: { "api.tokenSeconds": 60 },
    async acts(service) {
      const ask = async () => (await service.call("GET", "/api/devices")).status;
      assert.equal(await ask(), 200);
      const { now } = Date;
      const later = mock.method(Date, "now", () => now.call(Date) + 61_000);
      try {
        assert.equal(await ask(), 401);
      } finally {
        later.mock.restore();
      }
    },
  },
  {
    sets: { "api.requestsPerMinute": 2 },
    async acts(service) {
      const ask = async () => (await service.call("GET", "/api/devices")).status;
      assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
    },
  },
  {
    sets: { "api.tokenRequestsPerMinute": 1 },
    async acts(service) {
      assert.deepEqual([(await service.token(wrong)).status, (await service.token(wrong)).status], [401, 429]);
    },
  },
  {
    sets: { "api.dailyResults": 1 },
    async acts(service) {
      await service.device("d");
      for (const ago of [20_000, 10_000]) assert.equal(await service.report("d", Date.now() - ago), 200);
      const range = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) };
      const first = await service.done("POST", "/api/devices/d/locations", range);
      assert.equal(first.locations.length, 1);
      assert.equal((await service.call("POST", "/api/devices/d/locations", range)).status, 429);
    },
  },
  {
    // A vehicle that says that it drives, and stays where it is.
    sets: { "trips.leastMetres": 0 },
    acts: async (service) =>
      assert.equal(
        await tripsOf(service, [
          [60, 30],
          [50, 30],
        ]),
        1,
      ),
  },
  {
    sets: { "trips.leastMetres": 0, "trips.stopSeconds": 10 },
    acts: async (service) =>
      assert.equal(
        await tripsOf(service, [
          [60, 30],
          [50, 0],
          [40, 0],
          [30, 30],
        ]),
        2,
      ),
  },
  {
    sets: { "trips.leastMetres": 0, "trips.gapSeconds": 60 },
    acts: async (service) =>
      assert.equal(
        await tripsOf(service, [
          [180, 30],
          [60, 30],
        ]),
        2,
      ),
  },
  {
    sets: { "api.commandWaitSeconds": 1 },
    async acts(service) {
      await service.device("990000000000001");
      const tracker = await service.tracker("990000000000001");
      const heard = tracker.received.length;
      const answer = service.call("POST", "/api/devices/990000000000001/sendCommand", unanswered);
      await until(() => tracker.received.length > heard);
      // It never replies; by default the answer would come after 10 s.
      assert.ok(await happensFirst(answer, 6000));
    },
  },
  {
    sets: { "answers.requestsAtOnce": 1 },
    async acts(service) {
      await underWay(service);
      const { status, json } = await service.call("GET", "/api/devices");
      assert.deepEqual([status, json.details], [429, ["1 requests of the user are under way"]]);
    },
  },
  {
    sets: { "answers.requestsAtOncePerAccount": 1 },
    async acts(service) {
      await underWay(service);
      const { status, json } = await service.call("GET", "/api/devices");
      assert.deepEqual([status, json.details], [429, ["1 requests of the account are under way"]]);
    },
  },
  {
    sets: { "links.perUser": 1 },
    async acts(service) {
      assert.equal((await linked(service, 1)).status, 201);
      const { status, json } = await linked(service, 1);
      assert.deepEqual([status, json.error], [409, "link limit reached"]);
    },
  },
  {
    sets: { "links.longestDays": 1 },
    async acts(service) {
      assert.equal((await linked(service, 0.9)).status, 201);
      assert.equal((await linked(service, 1.1)).status, 400);
    },
  },
  {
    sets: { "links.requestsPerMinute": 1 },
    async acts(service) {
      const { token } = (await linked(service, 1)).json;
      const ask = () => fetch(`${service.url}/api/shared`, { headers: { authorization: `Bearer ${token}` } });
      assert.deepEqual([(await ask()).status, (await ask()).status], [200, 429]);
    },
  },
  ...(["perUser", "perAccount", "inAll"] as const).map((which) => ({
    sets: { [`streams.${which}`]: 1 },
    async acts(service: Running) {
      const ask = { url: service.url, token: await service.owner() };
      const stream = await EventStream.open(ask);
      const { status, answer } = await EventStream.asked(ask);
      answer.destroy();
      stream.close();
      assert.equal(status, which === "inAll" ? 503 : 429);
    },
  })),
  {
    sets: { "answers.unreadMegabytes": 1 },
    beside: patient,
    async acts(service) {
      const ask = await unread(service);
      await until(async () => (await ask()).json.details?.[0] === "the user's answers before are not read");
    },
  },
  {
    sets: { "answers.unreadMegabytesPerAccount": 1 },
    beside: patient,
    async acts(service) {
      const ask = await unread(service);
      await until(async () => (await ask()).json.details?.[0] === "the account's answers before are not read");
    },
  },
  {
    sets: { "answers.unreadMegabytesInAll": 1 },
    beside: patient,
    async acts(service) {
      const ask = await unread(service);
      await until(async () => (await ask()).status === 503);
    },
  },
  {
    sets: { "answers.unreadSeconds": 1 },
    beside: { "answers.unreadMegabytes": 100, "answers.unreadMegabytesPerAccount": 100 },
    async acts(service) {
      const devices = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(64, "x"));
      const { id } = await service.done("POST", "/api/groups", { name: "large", devices });
      const { socket, said } = await plain(service);
      socket.pause();
      const token = await service.owner();
      const ask = `GET /api/groups/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      // More than the buffers of the system take. Who does not read learns only by reading on that the connection is
      // gone.
      const reset = once(socket, "close").catch(() => "reset");
      socket.write(ask.repeat(40));
      await setTimeout(5000);
      socket.resume();
      const whole = until(() => said().split("HTTP/1.1 200").length > 40).then(() => "whole");
      assert.equal(await Promise.race([reset, whole]), "reset");
    },
  },
  {
    sets: { "passwords.requireEncrypted": true },
    async acts(service) {
      const ada = { name: "Ada", email: "ada@example.org", country: "CO", timeZone: "America/Bogota" };
      const { status } = await service.call("POST", "/api/users", { ...ada, password: "long enough it is" });
      assert.equal(status, 400);
      assert.ok((await service.call("POST", "/api/users", ada)).status < 300);
    },
  },
]);
