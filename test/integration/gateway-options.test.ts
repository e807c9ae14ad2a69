import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { defineProtocol } from "../../src/wire/protocol.ts";
import { metricOf, Peer, startGateway, times, until } from "../support/gateway.ts";
import { lineFramer } from "../support/line-framer.ts";

const options = { timeout: 20_000 };

/** Each message names its device and has a fix, whose time depends on the device's model; the session counts them. */
const modelled = defineProtocol<number>({
  id: "modelled",
  title: "modelled",
  transports: ["tcp"],
  defaultPort: 1,
  manuals: [],
  detect: () => "sure",
  framer: lineFramer,
  session: 0,
  classify: () => "any",
  messages: [
    {
      name: "any",
      handle: (_bytes, count, context) => {
        const time = context.options.model === "late" ? 2000 : 1000;
        const place = { valid: true, latitude: 1, longitude: 1 };
        const fix = { type: "fix", time, ...place, alarms: [], readings: {}, attributes: { count } } as const;
        return { session: count + 1, effects: [{ type: "identify", ids: ["m1"] }, fix] };
      },
    },
  ],
});

for (const slow of [false, true])
  test(
    `the message that names a device is read as that device writes${slow ? ", while the store is asked" : ""}`,
    options,
    async (t) => {
      const world = await startGateway({}, [modelled]);
      t.after(() => world.gateway.stop());
      world.intake.slow = slow;
      world.intake.register("m1", false, "late");
      const peer = new Peer(world.port);
      peer.send("x\nx\n");
      await until(() => times(world, "m1").length === 2);
      assert.deepEqual(times(world, "m1"), [2, 2]);
      const counts = world.intake.stored.get("m1")?.map(({ attributes }) => attributes.count);
      assert.deepEqual(counts, [0, 1], "a message that is read again is one message of the session");
    },
  );

const login = Uint8Array.fromHex("78780d0103500000000000170001ca070d0a");
const report = Uint8Array.fromHex(
  "7e0200001c012345678901002a0000000000000003030c1a1800d19ea4002a0190005a2602031205068e7e",
);

test("a tracker that gets another's address and port is heard by its own protocol", options, async (t) => {
  const world = await startGateway({}, protocols);
  t.after(() => world.gateway.stop());
  world.intake.register("350000000000017");
  world.intake.register("12345678901");
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString("hex")));
  for (const message of [login, report, login]) {
    const before = answers.length;
    socket.send(message, world.port, "127.0.0.1");
    await until(() => answers.length > before);
  }
  assert.deepEqual(
    answers.map((answer) => answer.slice(0, 4)),
    ["7878", "7e80", "7878"],
  );
});

test(
  "what came before from the same address and port is answered, though another tracker speaks then",
  options,
  async (t) => {
    const world = await startGateway({}, protocols);
    t.after(() => world.gateway.stop());
    world.intake.register("350000000000017");
    world.intake.register("12345678901");
    world.intake.hold = true;
    const socket = createSocket("udp4");
    t.after(() => socket.close());
    const answers: string[] = [];
    socket.on("message", (message) => answers.push(message.toString("hex")));
    for (const message of [report, login]) socket.send(message, world.port, "127.0.0.1");
    const received = 'waybeam_received_bytes_total{transport="udp"}';
    await until(async () => (await metricOf(world.metrics, received)) === report.length + login.length);
    world.intake.commit();
    await until(() => answers.length === 2);
    assert.deepEqual(
      answers.map((answer) => answer.slice(0, 4)),
      ["7e80", "7878"],
    );
  },
);
