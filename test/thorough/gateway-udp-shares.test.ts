import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { metricOf, startGateway, until } from "../support/gateway.ts";

const options = { timeout: 20_000 };
const closedFull = 'waybeam_connections_closed_total{cause="full"}';
const closedReplaced = 'waybeam_connections_closed_total{cause="replaced"}';
const droppedAsking = 'waybeam_datagrams_dropped_total{cause="asking"}';

/** A sender at an address of the loopback network, with a port of its own. */
async function sender(t: TestContext, port: number, from = "127.0.0.1") {
  const socket = createSocket("udp4");
  const answers: string[] = [];
  socket.on("message", (message) => answers.push(message.toString("latin1")));
  socket.bind(0, from);
  await once(socket, "listening");
  t.after(() => socket.close());
  return {
    answers,
    send: (text: string) => new Promise<void>((resolve) => socket.send(text, port, "127.0.0.1", () => resolve())),
  };
}

test("when all places of UDP peers are taken, the address that has most makes room", options, async (t) => {
  const { gateway, port, intake, metrics } = await startGateway({ udpSessions: 4, udpSessionsPerAddress: 2 });
  t.after(() => gateway.stop());
  const quiet = await sender(t, port, "127.0.0.2");
  intake.register("quiet");
  await quiet.send("#I,quiet\n");
  await until(() => quiet.answers.length === 1);
  for (let at = 0; at < 8; at++) {
    intake.register(`d${at}`);
    const peer = await sender(t, port);
    await peer.send(`#I,d${at}\n`);
    await until(() => peer.answers.length === 1);
  }
  assert.equal(gateway.connections.udp, 4);
  assert.equal(await metricOf(metrics, closedFull), 5);
  // It needs no login: it was not forgotten.
  await quiet.send("#P,1\n");
  await until(() => quiet.answers.length === 2);
  assert.equal(quiet.answers[1], "#P,1\n");
});

test("one device has a few peers, from whatever addresses its datagrams come", options, async (t) => {
  const { gateway, port, intake, metrics } = await startGateway({ udpSessionsPerDevice: 2 });
  t.after(() => gateway.stop());
  intake.register("one");
  for (let at = 1; at <= 6; at++) {
    const peer = await sender(t, port, `127.0.0.${at}`);
    await peer.send("#I,one\n");
    await until(() => peer.answers.length === 1);
  }
  // The one that it is reached by, which the others do not end, and two of these.
  assert.equal(gateway.connections.udp, 3);
  assert.equal(await metricOf(metrics, closedReplaced), 3);
});

test("of those whose device is being asked for, one address has its share", options, async (t) => {
  const { gateway, port, intake, metrics } = await startGateway({ udpAsking: 4, udpAskingPerAddress: 2 });
  t.after(() => gateway.stop());
  intake.silent = true;
  for (let at = 0; at < 4; at++) await (await sender(t, port)).send(`#I,nobody${at}\n`);
  await until(async () => (await metricOf(metrics, droppedAsking)) === 2);
  assert.equal(intake.asked, 2);
  intake.register("one");
  const other = await sender(t, port, "127.0.0.2");
  await other.send("#I,one\n");
  await until(() => intake.asked === 3);
  intake.answer();
  await until(() => other.answers.length === 1);
});
