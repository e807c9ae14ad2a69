import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { metricOf, Peer, startGateway, until } from "../support/gateway.ts";

const options = { timeout: 20_000 };
const closedForMemory = 'waybeam_connections_closed_total{cause="memory"}';
const pausedForMemory = 'waybeam_socket_pauses_total{cause="memory"}';

test("beyond the bytes of all together no socket is read; the largest holders make room", options, async () => {
  const world = await startGateway({ bufferedBytes: 1500 });
  world.intake.register("one");
  const known = new Peer(world.port);
  known.send("#I,one\n");
  await known.expect("#I\n");
  const small = new Peer(world.port);
  small.send("#A,one");
  const large = [new Peer(world.port), new Peer(world.port)];
  for (const peer of large) peer.send(`#${"x".repeat(899)}`);
  await Promise.race(large.map((peer) => peer.closed));
  assert.equal(world.gateway.connections.tcp, 3);
  assert.equal(await metricOf(world.metrics, closedForMemory), 1);
  assert.ok((await metricOf(world.metrics, pausedForMemory)) > 0);
  known.send("#P,1\n");
  await known.expect("#P,1\n");
  small.send(",2\n");
  await small.expect("#A,2\n");
  for (const peer of [known, small, ...large]) peer.end();
  await until(() => world.gateway.connections.tcp === 0);
  assert.equal(await metricOf(world.metrics, "waybeam_buffered_bytes"), 0);
  await world.gateway.stop();
});

test("while the store is waited for nobody makes room: all wait, and nothing is lost", options, async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const world = await startGateway({ bufferedBytes: 3000 });
  const peers: Peer[] = [];
  for (let index = 0; index < 6; index++) {
    world.intake.register(`d${index}`);
    const peer = new Peer(world.port);
    peer.send(`#I,d${index}\n`);
    await peer.expect("#I\n");
    peers.push(peer);
  }
  world.intake.congested = true;
  const sent = Array.from({ length: 200 }, (_, index) => `#P,${index}\n`).join("");
  for (const peer of peers) peer.send(sent);
  const udp = createSocket("udp4");
  let dropped = 0;
  while (dropped === 0) {
    udp.send("#A,d0,1\n", world.port, "127.0.0.1");
    await new Promise((resolve) => setTimeout(resolve, 5));
    dropped = await metricOf(world.metrics, 'waybeam_datagrams_dropped_total{cause="memory"}');
  }
  udp.close();
  // Each second it looks who is to make room.
  t.mock.timers.tick(5000);
  assert.equal(world.gateway.connections.tcp, 6);
  const buffered = await metricOf(world.metrics, "waybeam_buffered_bytes");
  assert.ok(buffered > 3000 && buffered < 3000 + 2 * sent.length, `${buffered} bytes`);
  world.intake.drain();
  for (const peer of peers) await peer.expect(sent);
  assert.equal(await metricOf(world.metrics, closedForMemory), 0);
  for (const peer of peers) peer.end();
  await world.gateway.stop();
});
