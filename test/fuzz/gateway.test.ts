import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import fc from "fast-check";
import { protocols } from "../../src/protocols/index.ts";
import type { SimulatedReport } from "../../src/wire/protocol.ts";
import { bytesOfLatin1 } from "../../src/wire/reader.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { Peer, startGateway, until } from "../support/gateway.ts";
import { runs } from "../support/runs.ts";

const report: SimulatedReport = {
  time: 1_700_000_000_000,
  latitude: 1.5,
  longitude: -2.5,
  altitude: 10,
  speed: 20,
  course: 30,
  satellites: 8,
  ignition: true,
  battery: 70,
};

/** Beginnings that detection takes for something, so that what follows reaches framers and decoders. */
const beginnings: readonly Uint8Array[] = [
  ...protocols.flatMap(({ simulate }) =>
    simulate === undefined
      ? []
      : [
          simulate.login?.("100000000000001", 1) ?? new Uint8Array(),
          simulate.report("100000000000001", [report], 2),
          Uint8Array.from([
            ...(simulate.login?.("100000000000001", 1) ?? []),
            ...simulate.report("100000000000001", [report], 2),
          ]),
        ],
  ),
  ...[
    "#I,one\n#P,1\n",
    "#A,two,3\n",
    "#C,\n",
    "#",
    "GET /?id=one&n=1 HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
  ].map(bytesOfLatin1),
  ...["POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n", "POST ", "\r\n\r\n"].map(bytesOfLatin1),
];

/** A beginning with some of its bytes changed. */
const damaged = fc
  .tuple(fc.constantFrom(...beginnings), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }))
  .map(([bytes, changes]) => {
    const copy = bytes.slice();
    for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
    return copy;
  });
const piece = fc.oneof(
  { weight: 3, arbitrary: damaged },
  { weight: 1, arbitrary: fc.constantFrom(...beginnings) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(255), fc.nat(20_000)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
  },
);
const stream = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 6 }),
  turns: fc.boolean(),
  abrupt: fc.boolean(),
});

test("any bytes from any number of sockets: no crash, no hang, nothing left behind", { timeout: 120_000 }, async () => {
  const world = await startGateway({ messagesPerSecond: 1e6 }, [...protocols, fixtureProtocol]);
  world.intake.register("one");
  world.intake.register("100000000000001");
  // Nobody else speaks as this one: a device's newer connection ends its older one.
  world.intake.register("watcher");
  world.intake.slow = true;
  const udp = createSocket("udp4");
  const known = new Peer(world.port);
  known.send("#I,watcher\n");
  await known.expect("#I\n");
  await fc.assert(
    fc.asyncProperty(fc.array(stream, { minLength: 1, maxLength: 8 }), async (streams) => {
      await Promise.all(
        streams.map(async ({ pieces, turns, abrupt }) => {
          const peer = new Peer(world.port);
          for (const bytes of pieces) {
            if (bytes.length > 0 && bytes.length < 9000) udp.send(bytes, world.port, "127.0.0.1");
            peer.send(bytes);
            if (turns) await new Promise((resolve) => setImmediate(resolve));
          }
          if (abrupt) peer.socket.resetAndDestroy();
          else peer.socket.end();
          await peer.closed;
        }),
      );
      known.send("#T\n");
      await known.expect("#T\n");
    }),
    { numRuns: runs(150) },
  );
  await until(() => world.gateway.connections.tcp === 1);
  assert.ok(world.gateway.connections.devices <= 3);
  known.end();
  udp.close();
  await world.gateway.stop();
  assert.equal(world.gateway.connections.tcp, 0);
  assert.deepEqual(
    world.logged.filter((line) => line.includes("defect")),
    [],
  );
  assert.match(await world.metrics.text(), /\nwaybeam_messages_in_flight 0\n/);
});

test("a flood of junk ends its connection, again and again", { timeout: 60_000 }, async () => {
  const world = await startGateway();
  world.intake.register("one");
  const chunk = new Uint8Array(64 * 1024).fill(0x41);
  for (let round = 0; round < 50; round++) {
    const peer = new Peer(world.port);
    peer.send("#I,one\n");
    await peer.expect("#I\n");
    peer.send(chunk);
    peer.send(chunk);
    await peer.closed;
  }
  await until(() => world.gateway.connections.tcp === 0);
  await world.gateway.stop();
});
