import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { selfSigned } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { type Peer, until } from "../support/gateway.ts";
import { type Beside, h02Report, happensFirst, portTaken, type Running, seeThemAct } from "../support/settings.ts";

const ids = Array.from({ length: 5 }, (_, index) => `99000000000000${index}`);
const [one, two, three, four] = ids as [string, string, string, string];

const metricsToken = "metrics-of-these-tests-and-no-others";
const measured = { "metrics.token": metricsToken };

/** Value of a metric's series. */
async function metric(service: Running, series: string): Promise<number> {
  const headers = { authorization: `Bearer ${metricsToken}` };
  const { json } = await service.request("GET", "/metrics", { headers });
  const line = String(json)
    .split("\n")
    .find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** A connection that says nothing, once the service has it. */
async function silent(service: Running, from?: string): Promise<Peer> {
  const before = await metric(service, 'waybeam_connections_opened_total{transport="tcp"}');
  const peer = service.connect(from);
  await until(async () => (await metric(service, 'waybeam_connections_opened_total{transport="tcp"}')) > before);
  return peer;
}

/** A tracker over UDP, at an address of the loopback network. */
async function udpPeer(service: Running, from = "127.0.0.1") {
  const socket = createSocket("udp4");
  let answers = 0;
  socket.on("message", () => answers++);
  socket.bind(0, from);
  await once(socket, "listening");
  return {
    close: () => socket.close(),
    /** Sends reports until one is answered. */
    async report(id: string): Promise<void> {
      const before = answers;
      socket.send(h02Report(id), service.devicePort, "127.0.0.1");
      await until(() => answers > before);
    },
    send: (bytes: Uint8Array) => socket.send(bytes, service.devicePort, "127.0.0.1"),
    get answers() {
      return answers;
    },
  };
}

/** What a report over TLS became: acknowledged, or refused. */
function overTls({ devicePort }: Running, ca: string, maxVersion: "TLSv1.2" | "TLSv1.3", id: string) {
  return new Promise<string>((resolve) => {
    const socket = connect({ port: devicePort, host: "127.0.0.1", ca, maxVersion }, () => socket.write(h02Report(id)));
    socket.once("data", () => {
      resolve("acknowledged");
      socket.destroy();
    });
    socket.once("error", () => resolve("refused"));
  });
}

/** The bytes of an HTTP request that does not end. */
const unfinished = (bytes: number) =>
  `POST /?id=${one} HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${"x".repeat(bytes)}`;

const place: (beside: Beside) => Promise<Record<string, number>> = async () => ({ "device.port": await freePort() });

async function sendsAtOnce(service: Running): Promise<void> {
  await service.device(one);
  const peer = await udpPeer(service);
  try {
    await peer.report(one);
    for (let at = 0; at < 50; at++) peer.send(h02Report(one, Date.now() - 60_000 + at * 1000));
    await until(async () => (await metric(service, 'waybeam_datagrams_dropped_total{cause="rate"}')) > 0);
  } finally {
    peer.close();
  }
}

seeThemAct("device", [
  {
    keys: ["device.tls.certificate", "device.tls.key", "device.tls.minVersion"],
    sets: ({ directory }) => {
      const pair = selfSigned();
      const [certificate, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
      writeFileSync(certificate, pair.cert);
      writeFileSync(key, pair.key, { mode: 0o600 });
      return { "device.tls.certificate": certificate, "device.tls.key": key, "device.tls.minVersion": "TLSv1.3" };
    },
    async acts(service, values) {
      await service.device(one);
      const ca = readFileSync(String(values["device.tls.certificate"]), "utf8");
      assert.equal(await overTls(service, ca, "TLSv1.3", one), "acknowledged");
      assert.equal(await overTls(service, ca, "TLSv1.2", one), "refused");
    },
  },
  {
    sets: { "device.host": "127.0.0.2" },
    beside: async (beside) => ({ "device.port": await portTaken(beside) }),
    async acts({ devicePort }) {
      const there = connectPlain(devicePort, "127.0.0.2");
      await once(there, "connect");
      there.destroy();
    },
  },
  {
    keys: ["device.port"],
    sets: place,
    async acts(_service, values) {
      const there = connectPlain(Number(values["device.port"]), "127.0.0.1");
      await once(there, "connect");
      there.destroy();
    },
  },
  {
    keys: ["device.ports"],
    sets: async () => ({ "device.ports": `teltonika=${await freePort()}` }),
    async acts(_service, values) {
      const there = connectPlain(Number(String(values["device.ports"]).split("=")[1]), "127.0.0.1");
      await once(there, "connect");
      there.destroy();
    },
  },
  {
    sets: { "device.corsOrigins": "https://app.example" },
    async acts({ devicePort }) {
      const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
      const answer = await fetch(`http://127.0.0.1:${devicePort}/`, { method: "OPTIONS", headers });
      assert.equal(answer.headers.get("access-control-allow-origin"), "https://app.example");
    },
  },
  {
    sets: { "device.connections": 1 },
    beside: { ...measured, "device.keptForOthers": 0 },
    async acts(service) {
      const first = await silent(service);
      await silent(service, "127.0.0.2");
      await first.closed;
    },
  },
  {
    sets: { "device.keptForOthers": 90 },
    beside: { ...measured, "device.connections": 10 },
    async acts(service) {
      const first = await silent(service);
      await silent(service);
      await first.closed;
    },
  },
  {
    sets: { "device.connectionsPerAddress": 1 },
    beside: measured,
    async acts(service) {
      const first = await silent(service);
      await silent(service);
      await first.closed;
    },
  },
  {
    sets: { "device.halfOpen": 1 },
    beside: measured,
    async acts(service) {
      const first = await silent(service);
      await silent(service, "127.0.0.2");
      await first.closed;
    },
  },
  {
    sets: { "device.halfOpenPerAddress": 1 },
    beside: { ...measured, "device.halfOpen": 3 },
    async acts(service) {
      const oldest = await silent(service, "127.0.0.2");
      const crowd = [await silent(service), await silent(service)];
      await silent(service);
      // By default the oldest of all would make room.
      assert.equal(
        await Promise.race([crowd[0]?.closed.then(() => "crowd"), oldest.closed.then(() => "oldest")]),
        "crowd",
      );
    },
  },
  {
    sets: { "device.udpSessions": 1 },
    beside: measured,
    async acts(service) {
      for (const id of [one, two]) await service.device(id);
      const peers = [await udpPeer(service), await udpPeer(service, "127.0.0.2")];
      try {
        await peers[0]?.report(one);
        await peers[1]?.report(two);
        assert.equal(await metric(service, "waybeam_udp_sessions"), 1);
      } finally {
        for (const peer of peers) peer.close();
      }
    },
  },
  {
    sets: { "device.udpSessionsPerAddress": 1 },
    beside: { ...measured, "device.udpSessions": 3 },
    async acts(service) {
      for (const id of [one, two, three, four]) await service.device(id);
      const quiet = await udpPeer(service, "127.0.0.2");
      const crowd = [await udpPeer(service), await udpPeer(service), await udpPeer(service)];
      try {
        await quiet.report(one);
        for (const [index, id] of [two, three, four].entries()) await crowd[index]?.report(id);
        // The one that was silent for longest is still reached, since the others' address has more than its share.
        const heard = quiet.answers;
        const command = service.call("POST", `/api/devices/${one}/sendCommand`, { command: "RESET" });
        await until(() => quiet.answers > heard);
        await service.done("DELETE", `/api/devices/${one}`);
        await command;
      } finally {
        for (const peer of [quiet, ...crowd]) peer.close();
      }
    },
  },
  {
    sets: { "device.bufferedBytes": 1_048_576 },
    beside: measured,
    async acts(service) {
      const peers = Array.from({ length: 40 }, () => service.connect());
      for (const peer of peers) peer.send(unfinished(40_000));
      await Promise.race(peers.map(({ closed }) => closed));
      assert.ok((await metric(service, 'waybeam_connections_closed_total{cause="memory"}')) > 0);
    },
  },
  {
    sets: { "device.bufferedBytesPerAddress": 65_536 },
    beside: measured,
    async acts(service) {
      const peers = Array.from({ length: 4 }, () => service.connect());
      for (const peer of peers) peer.send(unfinished(40_000));
      await Promise.race(peers.map(({ closed }) => closed));
      assert.ok((await metric(service, 'waybeam_connections_closed_total{cause="memory"}')) > 0);
    },
  },
  {
    sets: { "device.messagesPerSecond": 1 },
    beside: measured,
    acts: sendsAtOnce,
  },
  {
    sets: { "device.idleSeconds": 1 },
    async acts(service) {
      await service.device(one);
      await (await service.tracker(one)).closed;
    },
  },
  {
    sets: { "device.knocksPerMinute": 1 },
    beside: measured,
    async acts(service) {
      const limited = 'waybeam_identifications_refused_total{protocol="h02",cause="limited"}';
      // Each new minute lets one more in.
      for (let at = 0; at < 6; at++) service.connect().send(h02Report(`99000000000001${at}`));
      await until(async () => (await metric(service, limited)) >= 3);
    },
  },
  {
    sets: { "device.identifySeconds": 1 },
    async acts(service) {
      assert.ok(await happensFirst(service.connect().closed, 30_000));
    },
  },
  {
    sets: { "ingest.maxFutureSeconds": 7200 },
    async acts(service) {
      await service.device("phone");
      const time = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;
      assert.equal(await service.report("phone", time), 200);
      const range = { from: new Date(time), to: new Date(time + 1) };
      const { locations } = await service.done("POST", "/api/devices/phone/locations", range);
      assert.equal(locations.length, 1);
    },
  },
]);
