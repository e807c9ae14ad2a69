import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import type { Guard } from "../../src/ports/intake.ts";
import { metricOf, Peer, until, type World, withGateway } from "../support/gateway.ts";

const address = "127.0.0.1";
const elsewhere: Guard = { protocols: new Set(["another"]) };

/** Devices that are refused, each for another reason: nobody outside is to see which. */
function registerRefused({ intake }: World): readonly string[] {
  intake.register("expired", true);
  intake.register("barred", false, undefined, elsewhere);
  return ["unknown", "expired", "barred"];
}

withGateway(
  "TCP: unknown, expired and barred trackers get the same, after as many messages",
  { refusedMessages: 3 },
  async (world) => {
    for (const id of registerRefused(world)) {
      const peer = new Peer(world.port);
      peer.send(`#I,${id}\n#P,1\n#T\n`);
      await peer.expect("#T\n");
      assert.equal(peer.socket.closed, false, id);
      peer.send("#P,2\n");
      await peer.closed;
      assert.equal(peer.received, "", id);
      const closed = `waybeam_connections_closed_total{cause="${id}"}`;
      assert.equal(await metricOf(world.metrics, closed), 1, id);
    }
    assert.equal(world.intake.stored.size, 0);
  },
);

withGateway(
  "TCP: unknown, expired and barred trackers are closed at the same time",
  { refusedSeconds: 1 },
  async (world) => {
    const peers = registerRefused(world).map((id) => {
      const peer = new Peer(world.port);
      peer.send(`#I,${id}\n`);
      return peer;
    });
    const order: number[] = [];
    for (const [index, peer] of peers.entries()) void peer.closed.then(() => order.push(index));
    await Promise.all(peers.map((peer) => peer.closed));
    assert.equal(order.length, 3);
    for (const peer of peers) assert.equal(peer.received, "");
  },
);

withGateway(
  "HTTP: unknown, expired and barred trackers get the same bytes, and each asks the store once",
  {},
  async (world) => {
    const answers = new Set<string>();
    for (const id of registerRefused(world)) {
      const before = world.intake.questions;
      const peer = new Peer(world.port);
      peer.send(`GET /?id=${id}&n=1&body=x HTTP/1.1\r\nConnection: close\r\n\r\n`);
      await peer.closed;
      answers.add(peer.received);
      assert.equal(world.intake.questions - before, 1, id);
    }
    assert.equal(answers.size, 1);
    assert.match([...answers][0] ?? "", /^HTTP\/1.1 404 /);
  },
);

withGateway("UDP: unknown, expired and barred trackers get nothing", {}, async (world) => {
  const socket = createSocket("udp4");
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString()));
  const ids = registerRefused(world);
  for (const id of ids) socket.send(`#A,${id},1\n`, world.port, address);
  await until(async () => (await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="barred"}')) === 1);
  await until(() => world.quarantine.unknown().length === 1);
  assert.equal(world.gateway.connections.udp, 0);
  socket.send("#A,one,1\n", world.port, address);
  await until(() => answers.length === 1);
  assert.deepEqual(answers, ["#A,1\n"]);
  socket.close();
});

withGateway(
  "beyond an address's knocks the store is not asked; other addresses go on",
  { knocksPerMinute: 5 },
  async (world) => {
    const limited = 'waybeam_identifications_refused_total{protocol="fixture",cause="limited"}';
    for (let index = 0; index < 5; index++) {
      const peer = new Peer(world.port);
      peer.send(`#I,invented${index}\n`);
      await until(() => world.intake.questions === index + 1);
      peer.end();
    }
    const closed = new Peer(world.port);
    closed.send("#I,invented5\n");
    await closed.closed;
    const phone = new Peer(world.port);
    phone.send("GET /?id=one&n=1 HTTP/1.1\r\nConnection: close\r\n\r\n");
    await phone.closed;
    assert.match(phone.received, /^HTTP\/1.1 429 [\s\S]*Retry-After: /);
    const socket = createSocket("udp4");
    socket.send("#I,invented6\n", world.port, address);
    await until(async () => (await metricOf(world.metrics, limited)) === 3);
    socket.close();
    assert.equal(world.intake.questions, 5);
    assert.equal(world.quarantine.unknown().length, 5);

    const other = new Peer(world.port, "127.0.0.2");
    other.send("#I,one\n");
    await other.expect("#I\n");
    other.end();
  },
);

withGateway("who is let in uses up no knocks", { knocksPerMinute: 2 }, async (world) => {
  for (const slow of [false, true])
    for (let index = 0; index < 5; index++) {
      world.intake.slow = slow;
      const peer = new Peer(world.port);
      peer.send("#I,one\n");
      await peer.expect("#I\n");
      peer.end();
    }
});

withGateway("a fleet behind one address may ask all at once", { knocksPerMinute: 2 }, async (world) => {
  world.intake.silent = true;
  const ids = ["first", "second", "third", "fourth", "fifth"];
  const peers = ids.map((id) => {
    world.intake.register(id);
    const peer = new Peer(world.port);
    peer.send(`#I,${id}\n`);
    return peer;
  });
  await until(() => world.intake.asked === ids.length);
  world.intake.answer();
  await Promise.all(peers.map((peer) => peer.expect("#I\n")));
  for (const peer of peers) peer.end();
});

withGateway(
  "strangers behind a device's address don't keep it out once it was let in from there",
  { knocksPerMinute: 2 },
  async (world) => {
    const before = new Peer(world.port);
    before.send("#I,one\n");
    await before.expect("#I\n");
    before.end();
    await before.closed;
    for (const id of ["invented1", "invented2", "invented3"]) {
      const stranger = new Peer(world.port);
      stranger.send(`#I,${id}\n`);
      await until(() => world.gateway.connections.halfOpen === 1 || stranger.socket.closed);
      stranger.end();
      await stranger.closed;
    }
    const questions = world.intake.questions;
    const again = new Peer(world.port);
    again.send("#I,one\n");
    await again.expect("#I\n");
    again.end();
    const stranger = new Peer(world.port);
    stranger.send("#I,invented4\n");
    await stranger.closed;
    assert.equal(world.intake.questions, questions + 1);
  },
);
