import assert from "node:assert/strict";
import { test } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import { bytesOfLatin1 } from "../../src/wire/reader.ts";
import { command, Peer, simulatedReport as report, startGateway, until, type World } from "../support/gateway.ts";
import { loadVectors } from "../support/vectors.ts";

const imei = "100000000000001";

/** A command's text, and the reply of a tracker that did it. */
const spoken: Readonly<Record<string, readonly [string, string]>> = {
  gt06: ["RELAY,1#", "RELAY,1# OK"],
  teltonika: ["getver", "getver OK"],
  h02: ["S20,1,1", "S20,DONE"],
  // Its examples are answered by reports, which are no answer to one command.
  gps103: ["J", "jt"],
};

/** Bytes of the server's first message. */
function lengthOf({ simulate }: AnyProtocol, bytes: Uint8Array): number {
  const answer = simulate?.answer?.(bytes);
  return typeof answer === "object" ? answer.length : bytes.length;
}

/** A command of the protocol's own examples. */
function exampleOf({ id }: AnyProtocol): string {
  const example = loadVectors(id).find(({ command: given }) => given !== undefined && "bytes" in given.expected);
  return example?.command?.text ?? "";
}

async function end(peer: Peer, world: World): Promise<void> {
  peer.end();
  await world.gateway.stop();
}

for (const protocol of protocols) {
  const { simulate } = protocol;
  if (simulate?.obey === undefined) continue;
  const { obey } = simulate;
  test(`${protocol.id}: a tracker that gets a command answers it, and its next report is acknowledged`, {
    timeout: 10_000,
  }, async () => {
    const world = await startGateway({}, protocols);
    for (let digits = 10; digits <= imei.length; digits++) world.intake.register(imei.slice(-digits));
    world.intake.register(`0${imei}`);
    const reached: string[] = [];
    world.gateway.dispatcher.onReachable((device) => reached.push(device));
    const peer = new Peer(world.port);
    peer.send(simulate.login?.(imei, 1) ?? simulate.report(imei, [report], 1));
    await until(() => reached.length === 1);
    // A device that reads no answers can't tell one from a command behind it.
    if (simulate.answer === undefined && simulate.login !== undefined) await until(() => peer.received.length > 0);
    const answered = simulate.answer === undefined ? peer.received.length : 0;
    const [text, expected] = spoken[protocol.id] ?? [exampleOf(protocol), ""];
    const { dispatched } = command(world, reached[0] ?? "", text);
    let reply: Uint8Array | undefined;
    for (let read = answered; reply === undefined; ) {
      await until(() => peer.received.length > read);
      const rest = bytesOfLatin1(peer.received.slice(read));
      const length = lengthOf(protocol, rest);
      reply = obey(rest.slice(0, length), imei, 2);
      read += length;
    }
    peer.send(reply);
    const result = await dispatched;
    assert.ok(result.outcome === "answered" && result.text.startsWith(expected), JSON.stringify(result));
    if (simulate.answer === undefined) return void (await end(peer, world));
    const before = peer.received.length;
    peer.send(simulate.report(imei, [{ ...report, time: report.time + 1000 }], 3));
    await until(() => peer.received.length > before);
    await end(peer, world);
  });
}

test("gt06: a late reply goes to its own command, whatever was asked since", { timeout: 10_000 }, async () => {
  const { simulate } = protocols.find(({ id }) => id === "gt06") ?? {};
  assert.ok(simulate?.login !== undefined && simulate.obey !== undefined);
  const world = await startGateway({}, protocols);
  world.intake.register(imei);
  const peer = new Peer(world.port);
  peer.send(simulate.login(imei, 1));
  await until(() => world.gateway.connections.devices === 1 && peer.received.length > 0);
  const login = peer.received.length;
  const first = await command(world, imei, "FIRST#", 5).dispatched;
  const second = command(world, imei, "SECOND#");
  await until(() => peer.received.includes("SECOND#\0") || /SECOND#.{4}\r\n/s.test(peer.received));
  const written = bytesOfLatin1(peer.received.slice(login));
  const cut = (written[2] ?? 0) + 5;
  const replies = [written.slice(0, cut), written.slice(cut)].map((bytes) => simulate.obey?.(bytes, imei, 2));
  for (const reply of replies) {
    assert.ok(reply !== undefined);
    peer.send(reply);
  }
  assert.deepEqual(await second.dispatched, { outcome: "answered", text: "SECOND# OK" });
  assert.deepEqual("later" in first && (await first.later), { text: "FIRST# OK" });
  peer.end();
  await world.gateway.stop();
});
