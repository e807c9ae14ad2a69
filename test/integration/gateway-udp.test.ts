import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { type TestContext, test } from "node:test";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { metricOf, startGateway, until } from "../support/gateway.ts";

const options = { timeout: 20_000 };
const droppedAsking = 'waybeam_datagrams_dropped_total{cause="asking"}';

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Sender {
  readonly answers: readonly string[];
  readonly send: (text: string) => Promise<void>;
}

/** A socket of its own for each sender: the gateway tells peers by their port. */
function sender(t: TestContext, port: number): Sender {
  const socket: Socket = createSocket("udp4");
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString("latin1")));
  t.after(() => socket.close());
  const send = (text: string) =>
    new Promise<void>((resolve) => {
      socket.send(text, port, "127.0.0.1", () => resolve());
    });
  return { answers, send };
}

test("a datagram that a protocol's defect can't tell from others stops nobody", options, async (t) => {
  const defective = {
    ...fixtureProtocol,
    detect(bytes: Uint8Array) {
      if (bytes[0] === 0) throw new Error("a defect");
      return fixtureProtocol.detect(bytes, "udp");
    },
  };
  const { gateway, port, intake, logged } = await startGateway({}, [defective]);
  t.after(() => gateway.stop());
  intake.register("d1");
  const { send, answers } = sender(t, port);
  await send("\0");
  await send("#I,d1\n");
  await until(() => answers.length === 1);
  assert.equal(logged.filter((line) => line.includes("a defect")).length, 1);
});

test("senders whom nobody knows never push out those who are known", options, async (t) => {
  const { gateway, port, intake, metrics } = await startGateway({ udpSessions: 2, udpAsking: 3 });
  t.after(() => gateway.stop());
  const known = [sender(t, port), sender(t, port)];
  for (const [index, { send, answers }] of known.entries()) {
    intake.register(`d${index}`);
    await send(`#I,d${index}\n`);
    await until(() => answers.length === 1);
  }
  intake.silent = true;
  const forged = Array.from({ length: 5 }, () => sender(t, port));
  for (const [index, { send }] of forged.entries()) await send(`#I,forged${index}\n`);
  let dropped = 0;
  while (dropped < 2) {
    await turn();
    dropped = await metricOf(metrics, droppedAsking);
  }
  assert.equal(intake.asked, 3);
  assert.equal(gateway.connections.udp, 2);
  for (const { send, answers } of known) {
    await send("#P,1\n");
    await until(() => answers.length === 2);
    assert.deepEqual(answers[1], "#P,1\n");
  }
  assert.equal(await metricOf(metrics, 'waybeam_connections_closed_total{cause="full"}'), 0);

  // Answered, they make way for the next.
  intake.answer();
  await until(() => intake.asked === 0);
  intake.silent = false;
  intake.register("late");
  const late = sender(t, port);
  while (late.answers.length === 0) {
    await late.send("#I,late\n");
    await turn();
  }
  assert.equal(late.answers[0], "#I\n");
  assert.equal(await metricOf(metrics, 'waybeam_connections_closed_total{cause="unknown"}'), 3);
});

test("what is sent while the first device is asked for waits for the answer", options, async (t) => {
  const { gateway, port, intake } = await startGateway();
  t.after(() => gateway.stop());
  intake.register("one");
  intake.silent = true;
  const { answers, send } = sender(t, port);
  await send("#I,one\n");
  await until(() => intake.asked === 1);
  await send("#P,1\n");
  intake.silent = false;
  intake.answer();
  await until(() => answers.length === 2);
  assert.deepEqual(answers, ["#I\n", "#P,1\n"]);
  assert.equal(gateway.connections.udp, 1);
});

test(
  "a sender whose device is held back goes on when there is room, and others are not looked at",
  options,
  async (t) => {
    const { gateway, port, intake } = await startGateway();
    t.after(() => gateway.stop());
    const senders = [sender(t, port), sender(t, port)];
    for (const [index, { send, answers }] of senders.entries()) {
      intake.register(`d${index}`);
      await send(`#I,d${index}\n`);
      await until(() => answers.length === 1);
    }
    const [held, other] = senders;
    assert.ok(held !== undefined && other !== undefined);
    intake.full.add("d0");
    await held.send("#P,1\n");
    await held.send("#P,2\n");
    await other.send("#P,1\n");
    await until(() => other.answers.length === 2);
    assert.equal(intake.stored.has("d0"), false);
    let asked = 0;
    const takes = intake.takes.bind(intake);
    intake.takes = (device) => {
      if (device.id === "d1") asked++;
      return takes(device);
    };
    intake.drain();
    intake.full.clear();
    intake.drain();
    await until(() => held.answers.length === 3);
    assert.deepEqual(held.answers.slice(1), ["#P,1\n", "#P,2\n"]);
    assert.equal(asked, 0);
  },
);
