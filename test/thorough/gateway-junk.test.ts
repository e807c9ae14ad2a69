import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import type { GatewayLimits } from "../../src/gateway/index.ts";
import { protocols } from "../../src/protocols/index.ts";
import { bytesOfLatin1 } from "../../src/wire/reader.ts";
import { metricOf, Peer, startGateway, until, untilRead } from "../support/gateway.ts";

const imei = "100000000000001";
const login = Uint8Array.from([0, 15, ...bytesOfLatin1(imei)]);
const ping = Uint8Array.of(0xff);

type World = Awaited<ReturnType<typeof startGateway>>;

/** Every protocol on one port that knows the device; no limit of time ends a connection before the test's own. */
function withGateway(name: string, limits: Partial<GatewayLimits>, run: (world: World) => Promise<void>): void {
  test(name, { timeout: 20_000 }, async () => {
    const world = await startGateway({ identifySeconds: 3600, ...limits }, protocols);
    world.intake.register(imei);
    try {
      await run(world);
    } finally {
      await world.gateway.stop();
    }
  });
}

const closedFor = ({ metrics }: World, cause: string) =>
  metricOf(metrics, `waybeam_connections_closed_total{cause="${cause}"}`);

/** Sends these bytes again and again, until the connection is closed. */
async function flood(peer: Peer, bytes: Uint8Array): Promise<void> {
  const more = () => {
    if (peer.socket.writable) peer.socket.write(bytes, more);
  };
  more();
  await peer.closed;
}

async function logIn(world: World): Promise<Peer> {
  const peer = new Peer(world.port);
  peer.send(login);
  await peer.expect("\x01");
  return peer;
}

/** What no protocol answers: pings, line ends, zeros, and what keeps detection in doubt. */
const openings: readonly (readonly [name: string, opening: string, rest: string])[] = [
  ["pings", "", "\xff"],
  ["line ends", "", "\r\n"],
  ["zeros", "", "\0"],
  ["pings and noise in turn", "\xff", "\x01\x02\x03\xff"],
  ["pings behind half a login", "\xff\0\x0f10000000", "\xff"],
  ["noise and pings behind half a login", "\0\x0f10000000", "\x01\x02\xff"],
  ["zeros behind half a login", "\0\x0f10000000", "\0"],
  ["line ends behind a sentence", "*HQ,1234567890,V1#", "\r\n"],
  ["line ends within a sentence", "*HQ,1234567890,V1,", "\r\n"],
  ["zeros behind a start of gt06", "xx", "\0"],
  ["empty messages of h02", "*HQ,1234567890,V1#", "*#"],
  ["line ends within a request", "GET / HTTP/1.1\r\n\r\n", "\r\n"],
];

for (const [name, opening, rest] of openings) {
  withGateway(`${name}: a connection that says nothing else is closed as junk`, {}, async (world) => {
    const peer = new Peer(world.port);
    if (opening !== "") peer.send(bytesOfLatin1(opening));
    await untilRead(world.metrics, opening.length);
    await flood(peer, bytesOfLatin1(rest.repeat(512)));
    const causes = await Promise.all(["junk", "unknownProtocol", "unknown"].map((cause) => closedFor(world, cause)));
    assert.equal(
      causes.reduce((sum, count) => sum + count, 0) + (peer.received.startsWith("HTTP/1.1 4") ? 1 : 0),
      1,
      await world.metrics.text(),
    );
  });
}

withGateway("as many pings as a tracker may send before its login pass, and no more", {}, async (world) => {
  const peer = new Peer(world.port);
  peer.send(new Uint8Array(60).fill(0xff));
  await untilRead(world.metrics, 60);
  peer.send(login);
  await peer.expect("\x01");
  peer.end();
  const flooding = new Peer(world.port);
  flooding.send(new Uint8Array(100).fill(0xff));
  await flooding.closed;
  assert.equal(await closedFor(world, "unknownProtocol"), 1);
});

withGateway("noise is not made good by pings, whoever sends them", {}, async (world) => {
  const peer = await logIn(world);
  await flood(peer, Uint8Array.from([...new Uint8Array(2000).fill(1), 0xff]));
  assert.equal(await closedFor(world, "junk"), 1);
});

withGateway("pings of a known tracker pass at the rate of messages", { messagesPerSecond: 50 }, async (world) => {
  const peer = await logIn(world);
  // Two seconds' worth at once, then it is left unread: some of these wait for seconds.
  peer.send(new Uint8Array(200).fill(0xff));
  await until(async () => (await metricOf(world.metrics, 'waybeam_frames_total{protocol="teltonika"}')) === 1 + 200);
  assert.ok((await metricOf(world.metrics, 'waybeam_socket_pauses_total{cause="rate"}')) >= 2);
  assert.equal(world.gateway.connections.tcp, 1);
  peer.end();
});

withGateway(
  "whoever is read slowly for sending too fast is closed all the same when the time to identify is over",
  { messagesPerSecond: 1, identifySeconds: 2 },
  async (world) => {
    const peer = new Peer(world.port);
    const opening = bytesOfLatin1("\0\x0f10000000");
    peer.send(opening);
    await untilRead(world.metrics, opening.length);
    await flood(peer, new Uint8Array(1024).fill(0xff));
    assert.equal(await closedFor(world, "notIdentified"), 1);
  },
);

withGateway(
  "UDP: silence of strangers is dropped, that of a known peer is bounded",
  { messagesPerSecond: 20 },
  async (world) => {
    const socket = createSocket("udp4");
    const send = (bytes: Uint8Array) =>
      new Promise<void>((resolve) => socket.send(bytes, world.port, "127.0.0.1", () => resolve()));
    const dropped = (cause: string) => metricOf(world.metrics, `waybeam_datagrams_dropped_total{cause="${cause}"}`);
    try {
      for (const text of ["\xff", "\xff".repeat(500), "\r\n", "\0", "\0".repeat(500)]) await send(bytesOfLatin1(text));
      await until(async () => (await dropped("unknownProtocol")) === 5);
      assert.equal(world.gateway.connections.udp, 0);
      // One record without elements.
      const record = [...new Uint8Array(8), 0, ...new Uint8Array(8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
      const data = [0, 1, 1, 5, 0, 15, ...bytesOfLatin1(imei), 8, 1, ...record, 1];
      await send(Uint8Array.from([0, data.length, ...data]));
      await until(() => world.gateway.connections.udp === 1);
      for (let sent = 0; sent < 100; sent++) await send(ping);
      await until(async () => (await dropped("rate")) > 0);
      assert.equal(world.gateway.connections.udp, 1);
    } finally {
      socket.close();
    }
  },
);
