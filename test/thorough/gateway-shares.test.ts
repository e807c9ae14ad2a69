import assert from "node:assert/strict";
import { test } from "node:test";
import { command, metricOf, Peer, startGateway, times, until, type World, withGateway } from "../support/gateway.ts";

const closedBy = ({ metrics }: World, cause: string) =>
  metricOf(metrics, `waybeam_connections_closed_total{cause="${cause}"}`);

/** A tracker that is logged in. */
async function loggedIn(world: World, id: string, from?: string): Promise<Peer> {
  const peer = new Peer(world.port, from);
  peer.send(`#I,${id}\n`);
  await peer.expect("#I\n");
  return peer;
}

withGateway("any number of logins as one device take one place", { connections: 10 }, async (world) => {
  world.intake.register("two");
  const peers: Peer[] = [];
  for (let at = 0; at < 25; at++) peers.push(await loggedIn(world, "one"));
  await until(() => world.gateway.connections.tcp === 1);
  assert.equal(await closedBy(world, "replaced"), 24);
  const last = peers.at(-1);
  last?.send("#P,1\n");
  await last?.expect("#P,1\n");
  const other = await loggedIn(world, "two");
  for (const peer of [...peers, other]) peer.end();
});

withGateway(
  "what the older connection had submitted is stored, and its commands are told that it is gone",
  {},
  async (world) => {
    const older = await loggedIn(world, "one");
    world.intake.hold = true;
    older.send("#P,1\n#P,2\n");
    await until(() => world.intake.waiting === 2);
    const { dispatched } = command(world, "one", "where");
    await older.expect("!where\n");
    const newer = new Peer(world.port);
    newer.send("#I,one\n#P,3\n");
    await newer.expect("#I\n");
    await older.closed;
    assert.deepEqual(await dispatched, { outcome: "lost" });
    assert.equal(older.received, "");
    world.intake.commit();
    await newer.expect("#P,3\n");
    assert.deepEqual(times(world, "one"), [1, 2, 3]);
    assert.equal(await metricOf(world.metrics, 'waybeam_reports_total{protocol="fixture"}'), 3);
    assert.equal(await metricOf(world.metrics, "waybeam_messages_in_flight"), 0);
    const next = command(world, "one", "here", 50);
    await newer.expect("!here\n");
    await next.dispatched;
    newer.end();
  },
);

withGateway(
  "a connection that stands for several devices loses the one, and ends when it stands for none",
  {},
  async (world) => {
    for (const id of ["two", "three"]) world.intake.register(id);
    const gatewayOfThree = new Peer(world.port);
    gatewayOfThree.send("#A,one,1\n#A,two,1\n#A,three,1\n");
    await gatewayOfThree.expect("#A,1\n#A,1\n#A,1\n");
    const one = await loggedIn(world, "one");
    gatewayOfThree.send("#A,two,2\n");
    await gatewayOfThree.expect("#A,2\n");
    const toOne = command(world, "one", "to one", 50);
    await one.expect("!to one\n");
    await toOne.dispatched;
    const three = await loggedIn(world, "three");
    gatewayOfThree.send("#A,two,3\n");
    await gatewayOfThree.expect("#A,3\n");
    assert.equal(await closedBy(world, "replaced"), 0);
    const two = await loggedIn(world, "two");
    await gatewayOfThree.closed;
    assert.equal(await closedBy(world, "replaced"), 1);
    assert.equal(world.gateway.connections.devices, 3);
    for (const peer of [one, two, three]) peer.end();
  },
);

withGateway(
  "a connection whose device is being asked for is not ended by the device that it had",
  {},
  async (world) => {
    world.intake.register("two");
    const older = await loggedIn(world, "one");
    world.intake.silent = true;
    older.send("#I,two\n#P,1\n");
    await until(() => world.intake.asked === 1);
    world.intake.silent = false;
    const newer = await loggedIn(world, "one");
    world.intake.answer();
    await older.expect("#I\n#P,1\n");
    assert.deepEqual(times(world, "two"), [1]);
    for (const peer of [older, newer]) peer.end();
  },
);

withGateway(
  "two trackers with one id end each other so many times a minute; then the one that is there stays",
  { displacementsPerMinute: 3 },
  async (world) => {
    world.intake.register("two");
    let present = await loggedIn(world, "one");
    for (let at = 0; at < 3; at++) {
      const next = await loggedIn(world, "one");
      await present.closed;
      present = next;
    }
    for (let at = 0; at < 4; at++) {
      const refused = new Peer(world.port);
      refused.send("#I,one\n#P,9\n");
      await refused.closed;
    }
    assert.equal(await closedBy(world, "replacedOften"), 4);
    assert.equal(world.logged.filter((line) => line.includes("end each other")).length, 1);
    // A gateway that relays it beside others goes on, and does not get its commands.
    const relay = new Peer(world.port);
    relay.send("#A,two,1\n#A,one,2\n#A,two,3\n");
    await relay.expect("#A,1\n#A,2\n#A,3\n");
    present.send("#P,1\n");
    await present.expect("#P,1\n");
    const { dispatched } = command(world, "one", "hello", 50);
    await present.expect("!hello\n");
    await dispatched;
    assert.deepEqual(times(world, "one"), [2, 1]);
    for (const peer of [present, relay]) peer.end();
  },
);

withGateway(
  "who knows a device's id can't keep it out: each address ends the others so many times a minute, and the device comes from its own",
  { displacementsPerMinute: 3 },
  async (world) => {
    let present = await loggedIn(world, "one", "127.0.0.2");
    for (let at = 0; at < 3; at++) {
      const next = await loggedIn(world, "one", "127.0.0.2");
      await present.closed;
      present = next;
    }
    const device = await loggedIn(world, "one");
    await present.closed;
    for (let at = 0; at < 3; at++) {
      const refused = new Peer(world.port, "127.0.0.2");
      refused.send("#I,one\n");
      await refused.closed;
    }
    assert.equal(await closedBy(world, "replacedOften"), 3);
    const { dispatched } = command(world, "one", "hello", 50);
    await device.expect("!hello\n");
    await dispatched;
    device.end();
  },
);

withGateway(
  "one address never has all places: a part is kept for others, and its own half-open connections make room for its trackers",
  { connections: 10, keptForOthers: 20 },
  async (world) => {
    for (let at = 0; at < 9; at++) world.intake.register(`d${at}`);
    const strangers = Array.from({ length: 5 }, () => new Peer(world.port));
    await until(() => world.gateway.connections.tcp === 5);
    const fleet: Peer[] = [];
    for (let at = 0; at < 8; at++) fleet.push(await loggedIn(world, `d${at}`));
    await Promise.all(strangers.map(({ closed }) => closed));
    assert.equal(await closedBy(world, "perAddress"), 5);
    const refused = new Peer(world.port);
    await refused.closed;
    const elsewhere = [await loggedIn(world, "d8", "127.0.0.2"), await loggedIn(world, "one", "127.0.0.3")];
    assert.equal(world.gateway.connections.tcp, 10);
    for (const peer of [...fleet, ...elsewhere]) peer.end();
  },
);

withGateway("connections per address can be set lower", { connectionsPerAddress: 2 }, async (world) => {
  world.intake.register("two");
  const first = [await loggedIn(world, "one"), await loggedIn(world, "two")];
  const third = new Peer(world.port);
  await third.closed;
  assert.equal(await closedBy(world, "perAddress"), 1);
  for (const peer of first) peer.end();
  await until(() => world.gateway.connections.tcp === 0);
  (await loggedIn(world, "one")).end();
});

const report = "GET /?id=one&n=1 HTTP/1.1\r\nHost: a\r\n\r\n";
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";

withGateway("HTTP connections of one device, kept open, keep no tracker out", { connections: 4 }, async (world) => {
  world.intake.register("two");
  const phones = Array.from({ length: 4 }, () => new Peer(world.port));
  for (const phone of phones) {
    phone.send(report);
    await phone.expect(ok);
  }
  // The one that was of use last is the last to go.
  phones[0]?.send(report);
  await phones[0]?.expect(ok);
  const tracker = await loggedIn(world, "two", "127.0.0.2");
  await phones[1]?.closed;
  assert.equal(world.gateway.connections.tcp, 4);
  for (const peer of [...phones, tracker]) peer.end();
});

withGateway(
  "HTTP: a request that never ends is cut, also after others; so is a connection that is silent",
  { httpRequestSeconds: 1, httpIdleSeconds: 3 },
  async (world) => {
    const [slow, silent] = [new Peer(world.port), new Peer(world.port)];
    for (const peer of [slow, silent]) {
      peer.send(report);
      await peer.expect(ok);
    }
    slow.send("POST /?id=one HTTP/1.1\r\nX: ");
    const trickle = setInterval(() => slow.send("x"), 50);
    await slow.closed;
    clearInterval(trickle);
    assert.equal(await closedBy(world, "slow"), 1);
    await silent.closed;
    assert.equal(await closedBy(world, "idle"), 1);
  },
);

test("unfinished messages of one address stop the reading of that address only", { timeout: 20_000 }, async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const world = await startGateway({ bufferedBytes: 10_000, bufferedBytesPerAddress: 2500 });
  t.after(() => world.gateway.stop());
  for (const id of ["one", "two"]) world.intake.register(id);
  const mate = await loggedIn(world, "two");
  const hoard = Array.from({ length: 3 }, () => new Peer(world.port));
  for (const peer of hoard) peer.send(`#${"x".repeat(899)}`);
  await until(async () => (await metricOf(world.metrics, 'waybeam_socket_pauses_total{cause="memory"}')) >= 4);
  // One of the same address is not heard ...
  mate.send("#P,1\n");
  // ... and everybody else is.
  const other = await loggedIn(world, "one", "127.0.0.2");
  other.send("#P,1\n");
  await other.expect("#P,1\n");
  assert.equal(mate.received, "");
  t.mock.timers.tick(1000);
  await Promise.race(hoard.map(({ closed }) => closed));
  await mate.expect("#P,1\n");
  assert.ok((await closedBy(world, "memory")) < 3);
  for (const peer of [mate, other, ...hoard]) peer.end();
});

test("at the limits that a service has: a fleet behind one address comes back at once, and others get in", {
  timeout: 60_000,
}, async (t) => {
  const world = await startGateway();
  t.after(() => world.gateway.stop());
  const fleet = 4000;
  for (let at = 0; at < fleet; at++) world.intake.register(`d${at}`);
  world.intake.register("one");
  const peers = Array.from({ length: fleet }, (_, at) => {
    const peer = new Peer(world.port);
    peer.send(`#A,d${at},1\n`);
    return peer;
  });
  await Promise.all(peers.map((peer) => peer.expect("#A,1\n")));
  assert.deepEqual(world.gateway.connections, { tcp: fleet, halfOpen: 0, udp: 0, devices: fleet });
  const other = await loggedIn(world, "one", "127.0.0.2");
  for (const peer of [...peers, other]) peer.end();
  await until(() => world.gateway.connections.tcp === 0);
});
