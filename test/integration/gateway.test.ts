import assert from "node:assert/strict";
import { metricOf, Peer, times, until, untilRead, withGateway } from "../support/gateway.ts";

withGateway("a fix is acknowledged once it is stored, and not before", {}, async ({ port, intake, gateway }) => {
  intake.hold = true;
  const peer = new Peer(port);
  peer.send("#I,one\n#P,1\n#T\n");
  await peer.expect("#I\n#T\n");
  await until(() => intake.waiting === 1);
  assert.equal(peer.received, "");
  assert.deepEqual(gateway.connections, { tcp: 1, halfOpen: 0, udp: 0, devices: 1 });
  intake.commit();
  await peer.expect("#P,1\n");
  peer.end();
  await until(() => gateway.connections.devices === 0);
});

withGateway("messages come whole, whatever the pieces", {}, async (world) => {
  const peer = new Peer(world.port);
  for (const byte of "#I,one\n#P,1\n\r\n#P,2\n") {
    peer.send(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await peer.expect("#I\n#P,1\n#P,2\n");
  assert.deepEqual(times(world, "one"), [1, 2]);
  assert.equal(await metricOf(world.metrics, 'waybeam_skipped_bytes_total{protocol="fixture"}'), 2);
  peer.end();
});

withGateway("an answer without reports waits for all reports before it", {}, async ({ port, intake }) => {
  intake.hold = true;
  const peer = new Peer(port);
  peer.send("#I,one\n#H\n#P,1\n#H\n#T\n");
  await peer.expect("#I\n#H\n#T\n");
  assert.equal(peer.received, "");
  intake.commit();
  await peer.expect("#P,1\n#H\n");
  peer.end();
});

withGateway("frames wait while the device is being asked for", {}, async (world) => {
  world.intake.slow = true;
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n#P,2\n#T\n");
  await peer.expect("#I\n#P,1\n#P,2\n#T\n");
  assert.deepEqual(times(world, "one"), [1, 2]);
  peer.end();
});

withGateway(
  "an unknown device is quarantined, gets nothing positive and is closed",
  { refusedMessages: 2 },
  async (world) => {
    const peer = new Peer(world.port);
    peer.send("#I,two\n#P,1\n#H\n");
    await peer.closed;
    assert.equal(peer.received, "");
    assert.equal(world.intake.stored.size, 0);
    const [entry] = world.quarantine.unknown();
    assert.deepEqual([entry?.ids, entry?.protocol, entry?.address], [["two"], "fixture", "127.0.0.1"]);
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unknown"}'), 1);
    assert.equal(await metricOf(world.metrics, 'waybeam_reports_refused_total{protocol="fixture",cause="unknown"}'), 1);
  },
);

withGateway(
  "an unknown device that says no more is closed after a short time",
  { refusedSeconds: 0 },
  async ({ port }) => {
    const peer = new Peer(port);
    peer.send("#I,two\n");
    await peer.closed;
  },
);

withGateway("an expired device's data is refused", { refusedMessages: 1 }, async (world) => {
  world.intake.register("old", true);
  const peer = new Peer(world.port);
  peer.send("#I,old\n#P,1\n");
  await peer.closed;
  assert.equal(peer.received, "");
  assert.deepEqual(world.quarantine.unknown(), []);
  assert.deepEqual(
    world.quarantine.ofDevice("old").map(({ cause }) => cause),
    ["expired"],
  );
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="expired"}'), 1);
});

withGateway("several devices speak on one connection", {}, async (world) => {
  world.intake.register("two");
  world.intake.slow = true;
  const peer = new Peer(world.port);
  peer.send("#A,one,1\n#A,two,2\n#A,one,3\n#A,nobody,4\n#A,two,5\n");
  await peer.expect("#A,1\n#A,2\n#A,3\n#A,5\n");
  assert.deepEqual(
    [times(world, "one"), times(world, "two")],
    [
      [1, 3],
      [2, 5],
    ],
  );
  assert.equal(world.gateway.connections.devices, 2);
  peer.end();
  await until(() => world.gateway.connections.devices === 0);
});

withGateway("a deleted device must be admitted again before anything else is taken", {}, async (world) => {
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await peer.expect("#I\n#P,1\n");
  world.intake.remove("one");
  peer.send("#P,2\n#T\n");
  await peer.expect("#T\n");
  assert.deepEqual(times(world, "one"), [1]);
  world.intake.register("one");
  peer.send("#I,one\n#P,3\n");
  await peer.expect("#I\n#P,3\n");
  peer.end();
});

withGateway("a changed device is asked for again and goes on", {}, async (world) => {
  const peer = new Peer(world.port);
  peer.send("#I,one\n");
  await peer.expect("#I\n");
  world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
  world.intake.register("one");
  world.intake.slow = true;
  peer.send("#P,1\n#P,2\n");
  await peer.expect("#P,1\n#P,2\n");
  peer.end();
});

withGateway("a device that is deleted while its fix waits gets no answer", { refusedMessages: 0 }, async (world) => {
  world.intake.hold = true;
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await until(() => world.intake.waiting === 1);
  world.intake.remove("one");
  world.intake.commit();
  peer.send("#H\n");
  await peer.closed;
  assert.equal(peer.received, "#I\n");
});

withGateway("while the store is down nothing is answered", {}, async (world) => {
  world.intake.down = true;
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await peer.closed;
  assert.equal(peer.received, "");
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unavailable"}'), 1);
});

withGateway("a congested intake stops reading, and goes on when drained", {}, async (world) => {
  const peer = new Peer(world.port);
  peer.send("#I,one\n");
  await peer.expect("#I\n");
  world.intake.congested = true;
  let sent = "";
  for (let index = 0; index < 200; index++) sent += `#P,${index}\n`;
  peer.send(sent);
  await untilRead(world.metrics, "#I,one\n".length + sent.length);
  assert.equal(world.intake.stored.size, 0);
  world.intake.drain();
  await peer.expect(sent);
  peer.end();
});

withGateway("a device of which enough waits is held back alone", {}, async (world) => {
  const greedy = new Peer(world.port);
  greedy.send("#I,one\n");
  await greedy.expect("#I\n");
  world.intake.full.add("one");
  greedy.send("#P,1\n");
  world.intake.register("two");
  const other = new Peer(world.port);
  other.send("#I,two\n#P,1\n");
  await other.expect("#I\n#P,1\n");
  assert.equal(world.intake.stored.has("one"), false);
  world.intake.full.clear();
  world.intake.drain();
  await greedy.expect("#P,1\n");
  greedy.end();
  other.end();
});

withGateway("a bounded number of messages waits for its commit", { messagesInFlight: 4 }, async (world) => {
  world.intake.hold = true;
  const peer = new Peer(world.port);
  const sent = "#I,one\n#P,1\n#P,2\n#P,3\n#P,4\n#P,5\n#P,6\n";
  peer.send(sent);
  await untilRead(world.metrics, sent.length);
  assert.equal(world.intake.waiting, 4);
  world.intake.commit();
  await until(() => world.intake.waiting === 2);
  world.intake.commit();
  await peer.expect("#I\n#P,1\n#P,2\n#P,3\n#P,4\n#P,5\n#P,6\n");
  peer.end();
});

withGateway(
  "a sender that is too fast is read more slowly and loses nothing",
  { messagesPerSecond: 10 },
  async (world) => {
    const peer = new Peer(world.port);
    let sent = "#I,one\n";
    let answers = "#I\n";
    for (let index = 0; index < 25; index++) {
      sent += `#P,${index}\n`;
      answers += `#P,${index}\n`;
    }
    peer.send(sent);
    await peer.expect(answers);
    assert.equal(await metricOf(world.metrics, 'waybeam_socket_pauses_total{cause="rate"}'), 1);
    peer.end();
  },
);

withGateway(
  "a peer that does not read its answers is closed",
  { unsentBytes: 1000, messagesPerSecond: 1e6 },
  async (world) => {
    const peer = new Peer(world.port);
    peer.socket.pause();
    peer.send("#I,one\n");
    await until(() => world.gateway.connections.devices === 1);
    peer.send("#B,100000\n".repeat(200));
    await until(() => world.gateway.connections.tcp === 0);
    peer.end();
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unread"}'), 1);
  },
);

withGateway(
  "a peer that does not read the answers to its bursts is closed, though these are written together",
  { unsentBytes: 1000, messagesPerSecond: 1e6 },
  async (world) => {
    const { intake } = world;
    intake.hold = true;
    const peer = new Peer(world.port);
    peer.send("#I,one\n");
    await peer.expect("#I\n");
    peer.socket.pause();
    const burst = `#P,${"1".padStart(1000, "0")}\n`.repeat(64);
    while (world.gateway.connections.tcp > 0) {
      peer.send(burst);
      await until(() => intake.waiting === 64 || world.gateway.connections.tcp === 0);
      intake.commit();
    }
    peer.end();
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unread"}'), 1);
  },
);

withGateway(
  "a peer that sends a burst and its last byte gets all answers, though these are written together",
  {},
  async ({ port, intake }) => {
    intake.hold = true;
    const peer = new Peer(port);
    peer.send("#I,one\n");
    await peer.expect("#I\n");
    peer.socket.end("#P,1\n#P,2\n#P,3\n");
    await until(() => intake.waiting === 3);
    // The end of the stream follows its last bytes.
    await new Promise((resolve) => setTimeout(resolve, 50));
    intake.commit();
    await peer.expect("#P,1\n#P,2\n#P,3\n");
    await peer.closed;
  },
);

withGateway(
  "what was acknowledged before junk ends the connection is sent, though answers are written together",
  { messagesInFlight: 2, junkBytes: 100 },
  async ({ port, intake }) => {
    intake.hold = true;
    const peer = new Peer(port);
    peer.send("#I,one\n");
    await peer.expect("#I\n");
    peer.send(`#P,1\n#P,2\n${"x".repeat(200)}`);
    await until(() => intake.waiting === 2);
    intake.commit();
    await peer.closed;
    assert.equal(peer.received, "#P,1\n");
  },
);

withGateway("junk, unknown protocols and undecodable messages end a connection", { junkBytes: 100 }, async (world) => {
  const junk = new Peer(world.port);
  junk.send(`#I,one\n${"x".repeat(200)}`);
  const unknown = new Peer(world.port);
  unknown.send("\x01\x02\x03");
  const broken = new Peer(world.port);
  broken.send(`#I,one\n${"#X,aaaaaaa\n".repeat(20)}`);
  await Promise.all([junk.closed, unknown.closed, broken.closed]);
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="junk"}'), 2);
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unknownProtocol"}'), 1);
  assert.ok(
    (await metricOf(world.metrics, 'waybeam_decode_failures_total{protocol="fixture",cause="badChecksum"}')) > 9,
  );
});

withGateway(
  "connections that never identify, or are silent, are closed",
  { identifySeconds: 1, idleSeconds: 1 },
  async (world) => {
    const silent = new Peer(world.port);
    const idle = new Peer(world.port);
    idle.send("#I,one\n");
    await Promise.all([silent.closed, idle.closed]);
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="notIdentified"}'), 1);
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="idle"}'), 1);
  },
);

withGateway(
  "when all places are taken, the longest half-open connection makes room",
  { connections: 2 },
  async (world) => {
    const known = new Peer(world.port);
    known.send("#I,one\n");
    await known.expect("#I\n");
    const halfOpen = new Peer(world.port);
    await until(() => world.gateway.connections.tcp === 2);
    world.intake.register("two");
    const later = new Peer(world.port);
    later.send("#I,two\n");
    await halfOpen.closed;
    await later.expect("#I\n");
    const refused = new Peer(world.port);
    await refused.closed;
    known.send("#T\n");
    await known.expect("#T\n");
    known.end();
    later.end();
  },
);

withGateway(
  "half-open connections of one address may take all places, and keep nobody else out",
  { halfOpen: 4, halfOpenPerAddress: 2 },
  async (world) => {
    const flood = Array.from({ length: 4 }, () => new Peer(world.port));
    await until(() => world.gateway.connections.halfOpen === 4);
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="halfOpenShare"}'), 0);
    const others = Array.from({ length: 4 }, () => new Peer(world.port, "127.0.0.2"));
    await until(
      async () => (await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="halfOpenShare"}')) === 4,
    );
    const open = (peers: readonly Peer[]) => peers.filter((peer) => !peer.socket.destroyed).length;
    await until(() => open(flood) + open(others) === 4);
    assert.equal(open(flood), 2);
    const known = others.find((peer) => !peer.socket.destroyed);
    known?.send("#I,one\n");
    await known?.expect("#I\n");
    for (const peer of [...flood, ...others]) peer.end();
  },
);

withGateway("a peer that ends its side still gets what becomes due", {}, async ({ port, intake }) => {
  intake.hold = true;
  const peer = new Peer(port);
  peer.socket.end("#I,one\n#P,1\n");
  await until(() => intake.waiting === 1);
  intake.commit();
  await peer.expect("#I\n#P,1\n");
  await peer.closed;
});

withGateway("a followed device's messages are traced with what became of them", {}, async ({ port, trace, intake }) => {
  trace.follow({ id: "one", accountKey: 1 }, 0);
  intake.slow = true;
  const peer = new Peer(port);
  peer.send("#I,one\n#P,1\n");
  await peer.expect("#I\n#P,1\n");
  const entries = trace.follow({ id: "one", accountKey: 1 }, 0);
  assert.deepEqual(
    entries.map(({ message, outcome, protocol }) => [Buffer.from(message, "hex").toString(), outcome, protocol]),
    [
      ["#I,one", "nothing to store", "fixture"],
      ["#P,1", "stored", "fixture"],
    ],
  );
  assert.partialDeepStrictEqual(entries[1]?.effects[0], { type: "fix", time: "1970-01-01T00:00:01.000Z" });
  peer.end();
});
