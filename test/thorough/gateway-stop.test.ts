import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { freePort } from "../support/free-port.ts";
import { Peer, startGateway, times, until } from "../support/gateway.ts";

test("stop reads no more, waits for what was submitted, and sends the answers that became due", {
  timeout: 10_000,
}, async () => {
  const world = await startGateway();
  world.intake.register("one");
  world.intake.hold = true;
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await until(() => world.intake.waiting === 1);
  const stopped = world.gateway.stop();
  peer.send("#P,2\n");
  await assert.rejects(once(new Peer(world.port).socket, "connect"));
  world.intake.commit();
  await Promise.all([stopped, peer.closed]);
  assert.equal(peer.received, "#I\n#P,1\n");
  assert.deepEqual(times(world, "one"), [1]);
});

test("stop is bounded while the store is down, and acknowledges nothing", { timeout: 10_000 }, async () => {
  const world = await startGateway({ stopSeconds: 0.1 });
  world.intake.register("one");
  world.intake.hold = true;
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await until(() => world.intake.waiting === 1);
  await world.gateway.stop();
  world.intake.commit();
  await peer.closed;
  assert.equal(peer.received, "#I\n");
});

test("where the port can't be had for UDP, start fails and leaves TCP free", { timeout: 10_000 }, async () => {
  const taken = createSocket("udp4");
  // The system's own choice for UDP may be the number of somebody's connection.
  const port = await freePort();
  taken.bind(port, "127.0.0.1");
  await once(taken, "listening");
  await assert.rejects(startGateway({}, undefined, port), { code: "EADDRINUSE" });
  taken.close();
  const world = await startGateway({}, undefined, port);
  assert.equal(world.port, port);
  await world.gateway.stop();
});
