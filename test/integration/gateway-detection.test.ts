import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { describe, it } from "node:test";
import type { Effect } from "../../src/model/effects.ts";
import { protocols } from "../../src/protocols/index.ts";
import { startsHttp } from "../../src/wire/http.ts";
import { type AnyProtocol, type Certainty, defineProtocol } from "../../src/wire/protocol.ts";
import { latin1Of } from "../../src/wire/reader.ts";
import { opensConnection } from "../contract/protocol/detection.ts";
import { metricOf, Peer, startGateway, times, until, untilRead, type World } from "../support/gateway.ts";
import { lineFramer } from "../support/line-framer.ts";
import { loadVectors, streamOf, type Vector } from "../support/vectors.ts";

const options = { timeout: 20_000 };

function fix(seconds: number): Effect {
  const place = { valid: true, latitude: 1, longitude: 1 };
  return { type: "fix", time: seconds * 1000, ...place, alarms: [], readings: {}, attributes: {} };
}

/**
 * A protocol of lines, `words` by their first letter: L logs in as `<id>` and what follows, H is a heartbeat, P a fix
 * at that second. All of them are sure of any line; what is no word of theirs is malformed.
 */
function lines(id: string, words: string): AnyProtocol {
  return defineProtocol<undefined>({
    id,
    title: id,
    transports: ["tcp", "udp"],
    defaultPort: 1,
    manuals: [],
    detect: () => "sure",
    framer: lineFramer,
    datagram: lineFramer,
    session: undefined,
    classify: (bytes) => (words.includes(latin1Of(bytes.subarray(0, 1))) ? latin1Of(bytes.subarray(0, 1)) : undefined),
    messages: [
      {
        name: "login",
        keys: ["L"],
        handle: (bytes, session) => ({
          session,
          effects: [{ type: "identify", ids: [id + latin1Of(bytes.subarray(1))] }],
        }),
      },
      {
        name: "heartbeat",
        keys: ["H"],
        handle: (_bytes, session) => ({ session, effects: [{ type: "ignored", reason: "heartbeat" }] }),
      },
      {
        name: "fix",
        keys: ["P"],
        handle: (bytes, session) => ({ session, effects: [fix(Number(latin1Of(bytes.subarray(1))))] }),
      },
    ],
  });
}

const firstLetter = ([first = 0x4c]: Uint8Array): Certainty => (first === 0x4c ? "sure" : "no");

function frames(world: World, id: string): Promise<number> {
  return metricOf(world.metrics, `waybeam_frames_total{protocol="${id}"}`);
}

async function stored(world: World, device: string, ...seconds: number[]): Promise<void> {
  await until(() => times(world, device).length === seconds.length);
  assert.deepEqual(times(world, device), seconds);
}

describe("a connection that was given to the wrong protocol", () => {
  for (const slow of [false, true]) {
    const how = slow ? ", while the store is asked" : "";

    it(`goes over to the one that reads what came so far${how}`, options, async () => {
      const world = await startGateway({}, [lines("a", "HP"), lines("b", "HLP")]);
      world.intake.slow = slow;
      world.intake.register("b1");
      const peer = new Peer(world.port);
      peer.send("H\n");
      await until(async () => (await frames(world, "a")) === 1);
      peer.send("L1\nP1\nP2\n");
      await stored(world, "b1", 1, 2);
    });

    it(`goes over to the one that names a registered device${how}`, options, async () => {
      const world = await startGateway({}, [lines("a", "LP"), lines("b", "LP")]);
      world.intake.slow = slow;
      world.intake.register("b1");
      const peer = new Peer(world.port);
      peer.send("L1\nP1\n");
      await stored(world, "b1", 1);
      assert.deepEqual(world.quarantine.unknown(), []);
    });

    it(`goes over to the one that the device spoke before${how}`, options, async () => {
      const [a, b] = [lines("", "LP"), lines("b", "HLP")];
      const one = { ...a, id: "a" };
      const other = { ...b, connect: a.connect };
      const world = await startGateway({}, [one, other]);
      world.intake.slow = slow;
      world.intake.register("1");
      const { port } = world;
      const device = await world.intake.admit(["1"]);
      assert.equal(device.status, "admitted");
      if (device.status === "admitted")
        world.intake.spoke(device, { protocol: "b", transport: "tcp", address: "127.0.0.1" });
      new Peer(port).send("L1\nP1\n");
      await stored(world, "1", 1);
      assert.equal(world.intake.ways("1").length, 1);
      assert.equal(await metricOf(world.metrics, 'waybeam_reports_total{protocol="b"}'), 1);
    });
  }

  it("stays where something was stored", options, async () => {
    const world = await startGateway({}, [lines("a", "LP"), lines("b", "HLP")]);
    world.intake.register("a1");
    const peer = new Peer(world.port);
    peer.send("L1\nP1\n");
    await stored(world, "a1", 1);
    peer.send("H\nP2\n");
    await stored(world, "a1", 1, 2);
    assert.equal(await frames(world, "b"), 0);
  });

  it("stays where reports are on their way to the store, though it names another device then", options, async () => {
    const world = await startGateway({}, [lines("a", "LP"), lines("b", "LP")]);
    world.intake.register("a1");
    world.intake.register("b2");
    world.intake.hold = true;
    const peer = new Peer(world.port);
    peer.send("L1\nP1\nL2\n");
    await until(async () => (await frames(world, "a")) + (await frames(world, "b")) >= 3);
    world.intake.hold = false;
    world.intake.commit();
    await stored(world, "a1", 1);
    assert.equal(await frames(world, "b"), 0);
    peer.end();
  });

  it("is closed as before where no protocol does better", options, async () => {
    const world = await startGateway({ junkBytes: 8 }, [lines("a", "H"), lines("b", "H")]);
    const peer = new Peer(world.port);
    peer.send("H\nXXXXXXXXXXXX\n");
    await peer.closed;
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="junk"}'), 1);
  });

  it("is corrected for datagrams too", options, async (t) => {
    const world = await startGateway({}, [lines("a", "LP"), lines("b", "LP")]);
    world.intake.register("b1");
    const socket = createSocket("udp4");
    t.after(() => socket.close());
    socket.send("L1\nP1\n", world.port, "127.0.0.1");
    await stored(world, "b1", 1);
  });
});

/** A position of JT/T 808; `check` is its checksum, and 8e is right. */
const located = (check: string) =>
  `7e0200001c012345678901002a0000000000000003030c1a1800d19ea4002a0190005a260203120506${check}7e`;

describe("a device whose checksums mean nothing", () => {
  const wrong = Uint8Array.fromHex(located("8f"));
  function register({ intake }: World): void {
    intake.register("12345678901");
    intake.ignoreChecksums("12345678901");
  }

  it("is heard from its first message on, over TCP", options, async () => {
    const world = await startGateway({}, protocols);
    register(world);
    const peer = new Peer(world.port);
    peer.send(wrong);
    await until(() => times(world, "12345678901").length === 1);
    peer.end();
  });

  it("is heard from its first datagram on", options, async (t) => {
    const world = await startGateway({}, protocols);
    register(world);
    const socket = createSocket("udp4");
    t.after(() => socket.close());
    socket.send(wrong, world.port, "127.0.0.1");
    await until(() => times(world, "12345678901").length === 1);
  });
});

describe("line ends and blanks before the first message", () => {
  const login = latin1Of(Uint8Array.fromHex("78780d0103500000000000170001ca070d0a"));
  const get = "GET /?id=350000000000017&lat=1&lon=1&timestamp=1770000000 HTTP/1.1\r\nHost: a\r\n\r\n";
  const messages = {
    gt06: [login, "xx"],
    jt808: [latin1Of(Uint8Array.fromHex(located("8e"))), "~"],
    http: [get, "HTTP/1.1 200"],
  };

  for (const [name, [message = "", answer = ""]] of Object.entries(messages))
    it(`are passed over: ${name}, in one piece and byte by byte`, options, async () => {
      const world = await startGateway({}, protocols);
      for (const id of ["350000000000017", "12345678901"]) world.intake.register(id);
      for (const before of ["\r\n", "\n", " \t\r\n\r\n"])
        for (const cut of [1, before.length, 1000]) {
          const peer = new Peer(world.port);
          const sent = before + message;
          for (let at = 0; at < sent.length; at += cut) {
            peer.send(Buffer.from(sent.slice(at, at + cut), "latin1"));
            await new Promise((resolve) => setImmediate(resolve));
          }
          await peer.expect(answer);
          peer.end();
        }
    });

  it("are waited behind, also on a port of one protocol", options, async () => {
    const world = await startGateway(
      {},
      [lines("a", "LP")].map((each) => ({ ...each, detect: firstLetter })),
    );
    world.intake.register("a1");
    const peer = new Peer(world.port);
    peer.send("\r\n");
    await untilRead(world.metrics, 2);
    peer.send("\r\nL1\nP1\n");
    await stored(world, "a1", 1);
    peer.end();
  });

  it("end the connection where they do not end", options, async () => {
    const world = await startGateway(
      {},
      [lines("a", "LP")].map((each) => ({ ...each, detect: firstLetter })),
    );
    const peer = new Peer(world.port);
    peer.send("\r\n".repeat(40));
    await peer.closed;
    assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unknownProtocol"}'), 1);
  });
});

/** The vectors of a protocol that may begin a conversation of this kind, each with all its messages. */
function openings(protocol: AnyProtocol, transport: "tcp" | "udp"): readonly Vector[] {
  return loadVectors(protocol.id).filter((vector) => {
    if (vector.transport !== transport || !opensConnection(vector)) return false;
    return transport === "udp" || streamOf(protocol, vector) !== undefined;
  });
}

/** Registers whoever the vector's messages name. */
function register(world: World, vector: Vector): void {
  for (const effect of vector.effects.flat())
    if (effect.type === "identify" && Array.isArray(effect.ids)) for (const id of effect.ids) world.intake.register(id);
}

describe("the open port", () => {
  for (const protocol of protocols) {
    const [stream] = openings(protocol, "tcp");
    if (stream !== undefined)
      it(`knows ${protocol.id} by its bytes, whole and one by one`, options, async () => {
        const world = await startGateway({}, protocols);
        register(world, stream);
        const bytes = stream.input.messages.flatMap((message) => [...message]);
        assert.notEqual(startsHttp(Uint8Array.from(bytes)), "sure");
        const whole = new Peer(world.port);
        whole.send(Uint8Array.from(bytes));
        await until(async () => (await frames(world, protocol.id)) > 0);
        const before = await frames(world, protocol.id);
        whole.end();
        const slow = new Peer(world.port);
        for (const byte of bytes.slice(0, 400)) {
          slow.send(Uint8Array.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        slow.send(Uint8Array.from(bytes.slice(400)));
        await until(async () => (await frames(world, protocol.id)) > before);
        for (const other of protocols) if (other !== protocol) assert.equal(await frames(world, other.id), 0, other.id);
      });

    const [datagram] = openings(protocol, "udp");
    if (datagram !== undefined)
      it(`knows ${protocol.id} by its datagrams`, options, async (t) => {
        const world = await startGateway({}, protocols);
        register(world, datagram);
        const socket = createSocket("udp4");
        t.after(() => socket.close());
        for (const message of datagram.input.messages) socket.send(message, world.port, "127.0.0.1");
        await until(async () => (await frames(world, protocol.id)) > 0);
        for (const other of protocols) if (other !== protocol) assert.equal(await frames(world, other.id), 0, other.id);
      });
  }
});
