import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import { connect } from "node:net";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { defaultLimits } from "../../src/http/limits.ts";
import { shareConnections } from "../../src/http/plugins/connections.ts";
import { createMetrics } from "../../src/observe/index.ts";
import { selfSigned } from "../support/certificate.ts";
import { metricOf, Peer, until } from "../support/gateway.ts";
import { endRest, metricsToken, type RestOptions, startRest } from "../support/rest.ts";

const options = { timeout: 60_000 };
const ask = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";

/** The HTTP side at a port of its own. */
async function listening(rest: RestOptions) {
  const world = await startRest(rest);
  after(() => endRest(world));
  const { port } = await world.http.start();
  const metrics = {
    text: async () =>
      (await world.http.inject({ url: "/metrics", headers: { authorization: `Bearer ${metricsToken}` } })).body,
  };
  return {
    world,
    port,
    open: () => metricOf(metrics, "waybeam_http_connections"),
    closedBy: (cause: string) => metricOf(metrics, `waybeam_http_connections_closed_total{cause="${cause}"}`),
  };
}

/** A client that was answered and keeps its connection. */
async function idle(port: number, from?: string): Promise<Peer> {
  const peer = new Peer(port, from);
  peer.send(ask);
  await peer.expect("HTTP/1.1 200 OK");
  return peer;
}

const end = (peers: readonly Peer[]) => {
  for (const peer of peers) peer.end();
};

test(
  "connections that are kept open without a request make room: of the address that has most, the one not used for longest",
  options,
  async () => {
    const { port, open, closedBy } = await listening({ limits: { connections: 4 } });
    const quiet = await idle(port, "127.0.0.2");
    const held = [await idle(port), await idle(port), await idle(port)];
    held[0]?.send(ask);
    // Its second answer: of the first one only the beginning was taken.
    await until(() => /HTTP\/1\.1 200[\s\S]*\}$/.test(held[0]?.received ?? ""));
    const fresh = await idle(port, "127.0.0.3");
    await held[1]?.closed;
    assert.deepEqual(
      [quiet, held[0], held[2], fresh].map((peer) => peer?.socket.destroyed),
      [false, false, false, false],
    );
    assert.deepEqual([await open(), await closedBy("share")], [4, 1]);
    end([quiet, ...held, fresh]);
  },
);

test("an address has so many; a trusted proxy, behind which are many, is not limited", options, async () => {
  const limits = { connectionsPerAddress: 2 };
  const { port, open, closedBy } = await listening({ limits, trustProxy: "127.0.0.9, 10.0.0.0/8" });
  const own = [await idle(port), await idle(port), await idle(port)];
  await own[0]?.closed;
  const proxied = await Promise.all(Array.from({ length: 5 }, () => idle(port, "127.0.0.9")));
  assert.deepEqual([await open(), await closedBy("perAddress")], [7, 1]);
  end([...own, ...proxied]);
});

test(
  "who sends a request without end makes room; who is being answered does not, unless its address has more than its share",
  options,
  async () => {
    const answers: (() => void)[] = [];
    const dispatcher = {
      dispatch: () =>
        new Promise<{ outcome: "notConnected" }>((resolve) => answers.push(() => resolve({ outcome: "notConnected" }))),
      onReachable: () => {},
      where: () => "nowhere" as const,
      onElsewhere: () => {},
    };
    const { world, port, closedBy } = await listening({ limits: { connections: 2 }, dispatcher });
    const token = await world.ownerToken();
    for (let at = 1; at <= 6; at++) await world.call("POST", "/api/devices", { token, body: { id: `d${at}` } });
    // Commands of one device wait for each other.
    const head = (device: string) =>
      `POST /api/devices/${device}/sendCommand HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n`;
    const endless = [new Peer(port), new Peer(port)];
    for (const peer of endless) peer.send(`${head("d1")}{"comm`);
    const working = [];
    for (const device of ["d2", "d3"]) {
      const peer = new Peer(port, `127.0.0.${device.slice(1)}`);
      peer.send(`${head(device)}{"command":"x"}`);
      working.push(peer);
      await until(() => answers.length === working.length);
    }
    await Promise.all(endless.map(({ closed }) => closed));
    const refused = new Peer(port, "127.0.0.4");
    await refused.closed;
    assert.equal(await closedBy("full"), 2);
    for (const answer of answers.splice(0)) answer();
    for (const peer of working) await peer.expect("HTTP/1.1 200 OK");
    const greedy = [];
    for (const device of ["d5", "d6"]) {
      const peer = new Peer(port, "127.0.0.5");
      peer.send(`${head(device)}{"command":"x"}`);
      greedy.push(peer);
      await until(() => answers.length === greedy.length);
    }
    const fresh = await idle(port, "127.0.0.6");
    await Promise.race(greedy.map(({ closed }) => closed));
    for (const answer of answers) answer();
    end([...working, ...greedy, fresh]);
  },
);

test("by the name localhost there is one server, whose connections are bounded", options, async () => {
  const { port } = await listening({ host: "localhost" });
  (await idle(port)).end();
  const other = connect({ port, host: "::1" });
  await assert.rejects(once(other, "connect"));
});

test("heads and bodies that trickle in without end are cut", options, async () => {
  const { port } = await listening({ limits: { timeoutSeconds: 1 } });
  const post = "POST /api/Auth/Token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const beginnings = [
    "GET /health/live HTTP/1.1\r\nX: ",
    `${post}Content-Length: 100000\r\n\r\n`,
    `${ask}GET / HTTP/1.1\r\nX: `,
  ];
  const peers = beginnings.map((text) => {
    const peer = new Peer(port);
    peer.send(text);
    return peer;
  });
  const silent = new Peer(port);
  const trickle = setInterval(() => {
    for (const peer of peers) peer.send("x");
  }, 50);
  await Promise.all([...peers, silent].map(({ closed }) => closed));
  clearInterval(trickle);
  for (const peer of peers) assert.match(peer.received, /HTTP\/1.1 408 Request Timeout/);
});

test("at the limits that a service has: thousands of idle connections keep nobody out", options, async () => {
  const { port, open, closedBy } = await listening({});
  const held: Peer[] = [];
  for (const from of ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"])
    held.push(...(await Promise.all(Array.from({ length: 950 }, () => idle(port, from)))));
  assert.equal(await open(), defaultLimits.connections);
  assert.equal(await closedBy("share"), 750);
  const other = await idle(port, "127.0.0.6");
  end([...held, other]);
  await until(async () => (await open()) === 0);
});

test("over TLS it is the same: who is being answered stays, who is idle makes room", options, async () => {
  const metrics = createMetrics({ processMetrics: false });
  const waiting: (() => void)[] = [];
  const server = createServer(selfSigned(), (request, response) => {
    if (request.url === "/wait") waiting.push(() => response.end("done"));
    else response.end("at once");
  });
  shareConnections(server, { connections: 2, connectionsPerAddress: 10 }, "", metrics);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const client = (path: string) => {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return { socket, received: () => received };
  };
  const busy = client("/wait");
  await until(() => waiting.length === 1);
  const first = client("/");
  await until(() => first.received().includes("at once"));
  const second = client("/");
  await until(() => second.received().includes("at once"));
  await until(() => first.socket.destroyed);
  waiting[0]?.();
  await until(() => busy.received().includes("done"));
  assert.equal(await metricOf(metrics, "waybeam_http_connections"), 2);
  for (const { socket } of [busy, first, second]) socket.destroy();
});
