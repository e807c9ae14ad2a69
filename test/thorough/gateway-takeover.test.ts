import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { type TestContext, test } from "node:test";
import type { GatewayLimits } from "../../src/gateway/index.ts";
import type { Guard } from "../../src/ports/intake.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { command, Peer, patient, startGateway, times, until, type World } from "../support/gateway.ts";
import { sample } from "../support/sample-protocol.ts";

const options = { timeout: 20_000 };
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";

/** A gateway of two protocols that knows the device "one". */
async function worldOf(t: TestContext, limits: Partial<GatewayLimits> = {}, guard?: Guard): Promise<World> {
  const world = await startGateway(limits, [fixtureProtocol, sample]);
  t.after(() => world.gateway.stop());
  world.intake.register("one", false, undefined, guard);
  return world;
}

async function byLines(t: TestContext, world: World, from?: string): Promise<Peer> {
  const peer = new Peer(world.port, from);
  t.after(() => peer.end());
  peer.send("#I,one\n");
  await peer.expect("#I\n");
  return peer;
}

const sampleLogin = sample.simulate?.login?.("one", 1) ?? new Uint8Array();
const sampleLoggedIn = Buffer.from([0x24, 0, 1, 0x25]).toString("latin1");

async function bySample(t: TestContext, world: World): Promise<Peer> {
  const peer = new Peer(world.port);
  t.after(() => peer.end());
  peer.send(sampleLogin);
  await peer.expect(sampleLoggedIn);
  return peer;
}

interface Sender {
  readonly answers: string[];
  /** Sends a message and waits for its answer. */
  readonly ask: (text: string) => Promise<void>;
}

async function sender(t: TestContext, world: World, from = "127.0.0.1"): Promise<Sender> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, from, resolve));
  t.after(() => socket.close());
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString("latin1")));
  const ask = async (text: string) => {
    const before = answers.length;
    socket.send(text, world.port, "127.0.0.1");
    await until(() => answers.length > before);
  };
  return { answers, ask };
}

/** A command is written to this peer. */
async function reaches(world: World, peer: Peer, text: string): Promise<void> {
  const { dispatched } = command(world, "one", text);
  await peer.expect(`!${text}\n`);
  peer.send("#C,done\n");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "done" });
}

test(
  "a login in another protocol is heard, and takes over neither the commands nor the connection",
  options,
  async (t) => {
    const world = await worldOf(t);
    const own = await byLines(t, world);
    const stranger = await bySample(t, world);
    await reaches(world, own, "a");
    // Nor does it answer for the device.
    const { dispatched } = command(world, "one", "b");
    await own.expect("!b\n");
    const lie = Buffer.from([0x24, 2, 0x80, 0x6e, 0x6f, 0]);
    lie[5] = lie.subarray(0, 5).reduce((sum, byte) => sum ^ byte, 0);
    stranger.send(lie);
    stranger.send(sampleLogin);
    await stranger.expect(sampleLoggedIn);
    own.send("#C,yes\n");
    assert.deepEqual(await dispatched, { outcome: "answered", text: "yes" });
    own.send("#P,1\n");
    await own.expect("#P,1\n");
    assert.deepEqual(
      world.intake.ways("one").map(({ protocol, transport, trustedAt }) => [protocol, transport, trustedAt !== null]),
      [
        ["fixture", "tcp", true],
        ["sample", "tcp", false],
      ],
    );
    // Nor once the device is gone: it would have to be gone for an hour.
    own.end();
    await until(() => world.gateway.connections.devices === 0);
    stranger.send(sampleLogin);
    await stranger.expect(sampleLoggedIn);
    assert.deepEqual(await command(world, "one", "c").dispatched, { outcome: "notConnected" });
  },
);

test("strangers who log in as one device in another protocol have one place together", options, async (t) => {
  const world = await worldOf(t);
  const own = await byLines(t, world);
  for (let count = 0; count < 5; count++) await bySample(t, world);
  await until(() => world.gateway.connections.tcp === 2);
  await reaches(world, own, "a");
});

test(
  "a forged datagram redirects no commands while the device has a TCP connection, whatever it spoke before",
  options,
  async (t) => {
    const world = await worldOf(t);
    const before = await sender(t, world);
    await before.ask("#A,one,1\n");
    const own = await byLines(t, world);
    // The connection is in a way that the device did not take before its datagram.
    world.intake.register("one", false, undefined, { protocols: new Set(["fixture"]) });
    own.send("#H\n");
    await own.expect("#H\n");
    await reaches(world, own, "a");
    for (let n = 2; n < 5; n++) {
      await before.ask(`#A,one,${n}\n`);
      await (await sender(t, world, "127.0.0.2")).ask(`#A,one,${n + 10}\n`);
    }
    await reaches(world, own, "b");
    assert.equal(times(world, "one").length, 7);
    own.end();
    await until(() => world.gateway.connections.devices === 0);
    await before.ask("#A,one,20\n");
    const { dispatched } = command(world, "one", "c", 5);
    await until(() => before.answers.includes("!c\n"));
    assert.equal((await dispatched).outcome, "sent");
  },
);

test(
  "of two senders of datagrams the one that was there goes on being reached; the same address with another port is it",
  options,
  async (t) => {
    const world = await worldOf(t);
    const own = await sender(t, world);
    await own.ask("#A,one,1\n");
    const forger = await sender(t, world, "127.0.0.2");
    for (let n = 0; n < 3; n++) await forger.ask("#A,one,2\n");
    command(world, "one", "a", 5);
    await until(() => own.answers.includes("!a\n"));
    const moved = await sender(t, world);
    await moved.ask("#A,one,3\n");
    command(world, "one", "b", 5);
    await until(() => moved.answers.includes("!b\n"));
    assert.ok(!forger.answers.join("").includes("!"));
  },
);

test(
  "a device whose address changed is reached there once its old address is silent for a while",
  options,
  async (t) => {
    const world = await worldOf(t, { movedSeconds: 1 });
    const old = await sender(t, world);
    await old.ask("#A,one,1\n");
    // Its first datagram must be younger than the last one of the old address, in whole seconds.
    const second = () => Math.floor(performance.now() / 1000);
    for (const began = second(); second() < began + 2; ) await new Promise((resolve) => setTimeout(resolve, 50));
    const moved = await sender(t, world, "127.0.0.2");
    await moved.ask("#A,one,2\n");
    command(world, "one", "a", 5);
    await until(() => old.answers.includes("!a\n"));
    let asked = 3;
    while (!moved.answers.includes("!b\n")) {
      await moved.ask(`#A,one,${asked++}\n`);
      await command(world, "one", "b", 1).dispatched;
    }
  },
);

test(
  "a login by TCP ends a datagram's reach, and one in the same protocol the older connection's",
  options,
  async (t) => {
    const world = await worldOf(t, {}, { protocols: new Set(["fixture"]) });
    const datagrams = await sender(t, world);
    await datagrams.ask("#A,one,1\n");
    const first = await byLines(t, world);
    await reaches(world, first, "a");
    const second = await byLines(t, world);
    await first.closed;
    await reaches(world, second, "b");
  },
);

test("HTTP reports are recorded as a way and take nothing over", options, async (t) => {
  const world = await worldOf(t);
  const own = await byLines(t, world);
  const phone = new Peer(world.port);
  t.after(() => phone.end());
  for (const n of [1, 2]) {
    phone.send(`GET /?id=one&n=${n} HTTP/1.1\r\n\r\n`);
    await phone.expect(ok);
  }
  await reaches(world, own, "a");
  assert.deepEqual(
    world.intake.ways("one").map(({ transport }) => transport),
    ["tcp", "http"],
  );
  const device = await world.intake.ask(["one"]);
  const seen = device.status === "admitted" ? world.gateway.presence.lastSeen(device) : undefined;
  assert.deepEqual([seen?.protocol, seen?.transport, seen?.address], ["fixture", "http", "127.0.0.1"]);
});

test(
  "a device that was exchanged: its new protocol is trusted after its time, or when the account names it",
  options,
  async (t) => {
    const world = await worldOf(t, { exchangedSeconds: 0 });
    const old = await byLines(t, world);
    const during = await bySample(t, world);
    await reaches(world, old, "a");
    old.end();
    await until(() => world.gateway.connections.devices === 0);
    during.send(sampleLogin);
    await during.expect(sampleLoggedIn);
    await until(() => world.gateway.connections.devices === 1);
    assert.ok(world.intake.ways("one").every(({ trustedAt }) => trustedAt !== null));
    const raw = command(world, "one", "raw", patient, true);
    await during.expect("raw");
    raw.dispatched.catch(() => {});
  },
);

test("an account that names the new protocol says that the device was exchanged", options, async (t) => {
  const world = await worldOf(t);
  (await byLines(t, world)).end();
  const exchanged = await bySample(t, world);
  assert.deepEqual(await command(world, "one", "x", 5).dispatched, { outcome: "notConnected" });
  world.intake.register("one", false, undefined, { protocols: new Set(["sample"]) });
  exchanged.send(sampleLogin);
  await exchanged.expect(sampleLoggedIn);
  await until(() => world.gateway.connections.devices === 1);
});

test("what a connection was asked before its device was told apart is waited for there", options, async (t) => {
  const world = await worldOf(t);
  const own = await byLines(t, world);
  const { dispatched } = command(world, "one", "x");
  await own.expect("!x\n");
  await (await sender(t, world)).ask("#A,one,1\n");
  await bySample(t, world);
  own.send("#C,mine\n");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "mine" });
});

test(
  "a device that may not report any longer loses every conversation, not only the one by which it is reached",
  options,
  async (t) => {
    const world = await worldOf(t);
    const peers = [await byLines(t, world), await bySample(t, world)];
    const datagrams = await Promise.all([sender(t, world), sender(t, world, "127.0.0.2")]);
    for (const [n, each] of datagrams.entries()) await each.ask(`#A,one,${n}\n`);
    assert.deepEqual([world.gateway.connections.tcp, world.gateway.connections.udp], [2, 2]);
    world.intake.register("one", true);
    world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
    await Promise.all(peers.map(({ closed }) => closed));
    await until(() => world.gateway.connections.tcp + world.gateway.connections.udp === 0);
  },
);
