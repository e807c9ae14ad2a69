import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { metricOf, Peer, startGateway, times, until, withGateway } from "../support/gateway.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";

withGateway("HTTP on the same port: answers in order, kept alive, once stored", {}, async (world) => {
  world.intake.hold = true;
  const peer = new Peer(world.port);
  peer.send("GET /?id=one&n=1 HTTP/1.1\r\nHost: a\r\n\r\nGET /?id=one&n=2&body=hi HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => world.intake.waiting === 1);
  assert.equal(peer.received, "");
  world.intake.commit();
  await peer.expect(ok);
  await until(() => world.intake.waiting === 1);
  world.intake.commit();
  await peer.expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  world.intake.hold = false;
  peer.send("GET /?id=one&n=3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  await peer.expect("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  await peer.closed;
  assert.deepEqual(times(world, "one"), [1, 2, 3]);
});

withGateway("HTTP: each refusal has its status", {}, async (world) => {
  world.intake.register("old", true);
  const statusOf = async (request: string) => {
    const peer = new Peer(world.port);
    peer.send(`${request}\r\nConnection: close\r\n\r\n`);
    await peer.closed;
    return peer.received;
  };
  assert.match(await statusOf("GET /?id=nobody HTTP/1.1"), /^HTTP\/1.1 404 /);
  assert.equal(await statusOf("GET /?id=old HTTP/1.1"), await statusOf("GET /?id=nobody HTTP/1.1"));
  assert.match(await statusOf("GET / HTTP/1.1"), /^HTTP\/1.1 400 /);
  assert.match(await statusOf("GET / nonsense"), /^HTTP\/1.1 400 /);
  world.intake.congested = true;
  assert.match(await statusOf("GET /?id=one&n=1 HTTP/1.1"), /^HTTP\/1.1 503 [\s\S]*Retry-After: /);
  world.intake.congested = false;
  world.intake.down = true;
  assert.match(await statusOf("GET /?id=one&n=1 HTTP/1.1"), /^HTTP\/1.1 503 [\s\S]*Retry-After: /);
  assert.equal(world.intake.stored.size, 0);
});

withGateway(
  "HTTP: a device of which no more may wait is told to come again, and others are stored",
  {},
  async (world) => {
    const { intake, port } = world;
    intake.register("two");
    intake.full.add("one");
    const peer = new Peer(port);
    peer.send("GET /?id=one&n=1 HTTP/1.1\r\n\r\nGET /?id=two&n=2 HTTP/1.1\r\nConnection: close\r\n\r\n");
    await peer.closed;
    assert.match(peer.received, /^HTTP\/1.1 503 [\s\S]*Retry-After: [\s\S]*HTTP\/1.1 200 /);
    assert.deepEqual([...intake.stored.keys()], ["two"]);
  },
);

withGateway(
  "HTTP: a request that is not stored in time is answered 503",
  { answerSeconds: 1 },
  async ({ port, intake }) => {
    intake.hold = true;
    const peer = new Peer(port);
    peer.send("GET /?id=one&n=1 HTTP/1.1\r\n\r\n");
    await peer.closed;
    assert.match(peer.received, /^HTTP\/1.1 503 /);
  },
);

withGateway("HTTP: requests of several phones over one connection are kept apart", {}, async (world) => {
  const peer = new Peer(world.port);
  peer.send("GET /?id=one&n=1 HTTP/1.1\r\n\r\n");
  await peer.expect(ok);
  peer.send("GET /?n=2 HTTP/1.1\r\n\r\n");
  await peer.expect("HTTP/1.1 400 Bad Request\r\n");
  peer.end();
  assert.deepEqual(times(world, "one"), [1]);
});

test("HTTP: pages of the origins that are named may report from a browser, and no others", async () => {
  const asked = async (corsOrigins: string, request: string) => {
    const world = await startGateway({}, undefined, 0, corsOrigins);
    world.intake.register("one");
    const peer = new Peer(world.port);
    peer.send(`${request}\r\nConnection: close\r\n\r\n`);
    await peer.closed;
    await world.gateway.stop();
    return peer.received;
  };
  const ask =
    "OPTIONS /?id=one&n=1 HTTP/1.1\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type";
  const report = "GET /?id=one&n=1 HTTP/1.1\r\nOrigin: https://app.example";
  const granted = (origin: string) =>
    `HTTP/1.1 204 No Content\r\n${origin}Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: Authorization, Content-Type, X-Limit-U, X-Limit-D\r\nAccess-Control-Max-Age: 86400\r\nConnection: close\r\n\r\n`;
  const own = "Access-Control-Allow-Origin: https://app.example\r\nVary: Origin\r\n";
  assert.equal(await asked("https://other.example, https://app.example", ask), granted(own));
  assert.equal(await asked("*", ask), granted("Access-Control-Allow-Origin: *\r\n"));
  assert.equal(
    await asked("https://app.example", report),
    `HTTP/1.1 200 OK\r\n${own}Content-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  assert.match(
    await asked("*", report.replace("one", "nobody")),
    /^HTTP\/1.1 404 Not Found\r\nAccess-Control-Allow-Origin: \*\r\n/,
  );
  for (const origins of ["", "https://other.example"]) {
    assert.doesNotMatch(await asked(origins, ask), /204|Access-Control/);
    assert.equal(await asked(origins, report), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  assert.doesNotMatch(await asked("*", "GET /?id=one&n=1 HTTP/1.1"), /Access-Control/);
});

withGateway(
  "UDP: answered once stored; only registered devices are remembered",
  { datagramBytes: 100 },
  async (world) => {
    const socket = createSocket("udp4");
    const answers: string[] = [];
    socket.on("message", (message) => answers.push(message.toString()));
    const send = (text: string) => socket.send(text, world.port, "127.0.0.1");
    send("#A,nobody,1\n");
    send("?");
    send("#".repeat(101));
    await until(() => world.quarantine.unknown().length === 1);
    assert.equal(world.gateway.connections.udp, 0);
    world.intake.slow = true;
    send("#I,one\n");
    send("#P,1\n");
    await until(() => answers.length === 2);
    assert.deepEqual(answers, ["#I\n", "#P,1\n"]);
    assert.deepEqual(times(world, "one"), [1]);
    assert.equal(world.gateway.connections.udp, 1);
    assert.equal(await metricOf(world.metrics, 'waybeam_datagrams_dropped_total{cause="tooLong"}'), 1);
    assert.equal(await metricOf(world.metrics, 'waybeam_datagrams_dropped_total{cause="unknownProtocol"}'), 1);
    socket.close();
  },
);

withGateway(
  "UDP peers are bounded, and forgotten when silent",
  { udpSessions: 2, udpIdleSeconds: 2 },
  async (world) => {
    const sockets = [createSocket("udp4"), createSocket("udp4"), createSocket("udp4")];
    for (const socket of sockets) {
      socket.send("#I,one\n", world.port, "127.0.0.1");
      await once(socket, "message");
    }
    assert.equal(world.gateway.connections.udp, 2);
    await until(() => world.gateway.connections.udp === 0);
    for (const socket of sockets) socket.close();
  },
);

withGateway(
  "HTTP: a request that trickles in has the time to identify and no more",
  { identifySeconds: 1 },
  async (world) => {
    const host = "HTTP/1.1\r\nHost: a\r\n";
    const beginnings = [
      `GET /?id=one&n=1 ${host}X: `,
      `POST /?id=one&n=1 ${host}Content-Length: 1000\r\n\r\n`,
      `POST /?id=one&n=1 ${host}Transfer-Encoding: chunked\r\n\r\n3e8\r\n`,
      // One that was answered, of a device that nobody knows, is no identification.
      `GET /?id=nobody ${host}\r\nGET /?id=one&n=1 ${host}X: `,
    ];
    const peers = beginnings.map((beginning) => {
      const peer = new Peer(world.port);
      peer.send(beginning);
      return peer;
    });
    const trickle = setInterval(() => {
      for (const peer of peers) peer.send("G");
    }, 50);
    try {
      await Promise.all(peers.map(({ closed }) => closed));
    } finally {
      clearInterval(trickle);
    }
    assert.equal(
      await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="notIdentified"}'),
      peers.length,
    );
    assert.equal(world.intake.stored.size, 0);
  },
);
