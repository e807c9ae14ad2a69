import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { type TestContext, test } from "node:test";
import type { GatewayLimits } from "../../src/gateway/index.ts";
import { h02 } from "../../src/protocols/h02/index.ts";
import { protocols } from "../../src/protocols/index.ts";
import { frame, more, quietMs } from "../../src/wire/framing.ts";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { metricOf, Peer, startGateway, until, untilRead } from "../support/gateway.ts";

/** The fixture's lines, the last of which needs no end; `#?` alone waits for more whatever happens. */
const quiet: AnyProtocol = {
  ...fixtureProtocol,
  framer: {
    ...fixtureProtocol.framer,
    settle(buffer, offset) {
      const end = buffer.indexOf(0x0a, offset);
      if (end >= 0) return frame(offset, end, end + 1);
      return buffer[offset + 1] === 0x3f ? more : frame(offset, buffer.length);
    },
  },
};

/** The fixture's lines, several in a datagram. */
const several: AnyProtocol = { ...fixtureProtocol, datagram: quiet.framer };

/** A binary message of 32 bytes; `minute` in BCD tells it from others. */
const binary = (minute: string) =>
  Uint8Array.fromHex(`24100000000110${minute}300302265107500005013442500e012180fffffbffff0007`);

async function world(t: TestContext, spoken: readonly AnyProtocol[], limits: Partial<GatewayLimits> = {}) {
  const started = await startGateway(limits, spoken);
  started.intake.register("one");
  started.intake.register("1000000001");
  t.after(async () => {
    await started.gateway.stop();
    assert.deepEqual(
      started.logged.filter((line) => line.includes("defect")),
      [],
    );
  });
  return started;
}

const stored = (intake: { readonly stored: ReadonlyMap<string, readonly unknown[]> }, id: string) =>
  intake.stored.get(id)?.length ?? 0;

const options = { timeout: 20_000 };
const frames = 'waybeam_frames_total{protocol="fixture"}';

test("a message without an end is taken and acknowledged once nothing follows for a while", options, async (t) => {
  const { port, intake } = await world(t, [quiet]);
  const peer = new Peer(port);
  peer.send("#I,one\n#P,1");
  await peer.expect("#I\n#P,1\n");
  assert.equal(stored(intake, "one"), 1);
  peer.send("#P,2\n#T");
  await peer.expect("#P,2\n#T\n");
  peer.end();
});

/** The test turns the clock of the quiet time itself. */
function holdClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => t.mock.timers.reset());
}

test("bytes that come in time belong to the message", options, async (t) => {
  holdClock(t);
  const { port, intake, metrics } = await world(t, [quiet]);
  const peer = new Peer(port);
  peer.send("#I,one\n");
  await peer.expect("#I\n");
  // Together they take longer than the quiet time.
  for (const [index, byte] of [..."#P,123"].entries()) {
    peer.send(byte);
    await untilRead(metrics, "#I,one\n".length + index + 1);
    t.mock.timers.tick(quietMs - 1);
  }
  assert.equal(await metricOf(metrics, frames), 1);
  t.mock.timers.tick(1);
  await peer.expect("#P,123\n");
  assert.equal(stored(intake, "one"), 1);
  peer.end();
});

test("a message without an end is taken when the peer ends its side", options, async (t) => {
  const { port, intake } = await world(t, [quiet]);
  intake.slow = true;
  const peer = new Peer(port);
  peer.socket.end("#A,one,1\n#A,one,2");
  await peer.expect("#A,1\n#A,2\n");
  await peer.closed;
  assert.equal(stored(intake, "one"), 2);
});

test("all that is settled at the end is taken, though a commit is told of in between", options, async (t) => {
  const { port, intake } = await world(t, [{ ...quiet, framer: { ...quiet.framer, next: () => more } }]);
  const peer = new Peer(port);
  peer.socket.end("#A,one,1\n#A,one,2\n#A,one,3");
  await peer.closed;
  assert.equal(peer.received, "#A,1\n#A,2\n#A,3\n");
  assert.equal(stored(intake, "one"), 3);
});

test("what is settled waits for the session like everything else, and is settled once", options, async (t) => {
  holdClock(t);
  const { port, intake, metrics } = await world(t, [quiet], { messagesInFlight: 1 });
  intake.hold = true;
  const peer = new Peer(port);
  const sent = "#A,one,1\n#P,2";
  peer.send(sent);
  await untilRead(metrics, sent.length);
  t.mock.timers.tick(2 * quietMs);
  assert.equal(intake.waiting, 1);
  intake.commit();
  assert.equal(intake.waiting, 0);
  t.mock.timers.tick(quietMs);
  assert.equal(intake.waiting, 1);
  intake.commit();
  await peer.expect("#A,1\n#P,2\n");
  peer.send("#?");
  await untilRead(metrics, sent.length + 2);
  t.mock.timers.tick(2 * quietMs);
  assert.equal(await metricOf(metrics, frames), 2);
  peer.end();
});

test("an opening that no protocol is sure of is read when the peer ends its side", options, async (t) => {
  const { port } = await world(t, [{ ...fixtureProtocol, detect: () => "maybe" }]);
  const peer = new Peer(port);
  peer.socket.end("#A,one,1\n");
  await peer.expect("#A,1\n");
  await peer.closed;
});

test("h02: the last binary message is stored without further bytes", options, async (t) => {
  const { port, intake } = await world(t, protocols);
  const peer = new Peer(port);
  peer.send(Uint8Array.from([...binary("15"), ...binary("16")]));
  await until(() => stored(intake, "1000000001") === 2);
  peer.socket.end(binary("17"));
  await peer.closed;
  assert.equal(stored(intake, "1000000001"), 3);
});

function udp(t: TestContext, port: number) {
  const socket = createSocket("udp4");
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString("latin1")));
  t.after(() => socket.close());
  return { answers, send: (bytes: string | Uint8Array) => socket.send(bytes, port, "127.0.0.1") };
}

test("UDP: the messages of a datagram are taken in their order", options, async (t) => {
  const { port, intake, metrics } = await world(t, [several], { messagesInFlight: 2 });
  intake.slow = true;
  const { answers, send } = udp(t, port);
  send("#I,one\n#P,1\n\r\n#P,2\n#P,3\n#P,4");
  send("#P,5\n#P,6\n");
  await until(() => answers.length === 7);
  assert.deepEqual(answers, ["#I\n", "#P,1\n", "#P,2\n", "#P,3\n", "#P,4\n", "#P,5\n", "#P,6\n"]);
  assert.deepEqual(
    intake.stored.get("one")?.map(({ time }) => Number(time) / 1000),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal(await metricOf(metrics, 'waybeam_skipped_bytes_total{protocol="fixture"}'), 2);
});

test("UDP: a message is done with before the next one of its datagram begins", options, async (t) => {
  const { port, intake, trace } = await world(t, [several]);
  intake.register("two");
  trace.follow({ id: "one", accountKey: 1 }, 0);
  const { answers, send } = udp(t, port);
  send("#A,one,1\n#A,two,2\n");
  await until(() => answers.length === 2);
  assert.deepEqual(
    trace.follow({ id: "one", accountKey: 1 }, 0).map(({ message }) => Buffer.from(message, "hex").toString()),
    ["#A,one,1"],
  );
});

test("UDP: a bounded number of a datagram's messages waits for its commit", options, async (t) => {
  const { port, intake, metrics } = await world(t, [several], { messagesInFlight: 2 });
  intake.hold = true;
  const { answers, send } = udp(t, port);
  send("#I,one\n#P,1\n#P,2\n#P,3\n");
  // A datagram is read in one step: what is not taken now waits.
  await until(() => answers.length === 1);
  assert.equal(intake.waiting, 2);
  assert.equal(await metricOf(metrics, frames), 3);
  intake.commit();
  await until(() => intake.waiting === 1);
  intake.commit();
  await until(() => answers.length === 4);
});

test("UDP: sentences and binary messages of h02 in one datagram", options, async (t) => {
  const { port, intake } = await world(t, protocols);
  const { answers, send } = udp(t, port);
  const place = { latitude: 1, longitude: 2, altitude: 0, speed: 0, course: 0 };
  const first = { time: 1_700_000_000_000, ...place, satellites: 5, ignition: false, battery: 50 };
  const sentences = h02.simulate?.report("1000000001", [first, { ...first, time: first.time + 1000 }], 1) ?? [];
  send(Uint8Array.from([...sentences, ...binary("18")]));
  await until(() => stored(intake, "1000000001") === 3);
  await until(() => answers.length === 2);
});
