import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { metricOf, Peer, simulatedReport, startGateway, until } from "../support/gateway.ts";

const options = { timeout: 20_000 };
const device = "100000000000001";

function portOf({ addresses }: Awaited<ReturnType<typeof startGateway>>, protocol: string, transport: string): number {
  return addresses.find((each) => each.protocol === protocol && each.transport === transport)?.port ?? 0;
}

function reportOf(id: string): Uint8Array {
  const simulate = protocols.find((each) => each.id === id)?.simulate;
  const login = simulate?.login?.(device, 1) ?? new Uint8Array(0);
  return Uint8Array.of(...login, ...(simulate?.report(device, [simulatedReport], 2) ?? []));
}

test("a port of its own speaks one protocol only, and the open port all of them", options, async (t) => {
  const world = await startGateway({}, protocols, 0, "", "h02=0, gt06=0");
  for (const id of [device, `0${device}`, device.slice(-10)]) world.intake.register(id);
  const stored = () => [...world.intake.stored.values()].flat().length;
  const own = portOf(world, "gt06", "tcp");
  assert.ok(own > 0 && own !== world.port && own !== portOf(world, "h02", "tcp"));

  new Peer(own).send(reportOf("gt06"));
  await until(() => stored() === 1);
  new Peer(world.port).send(reportOf("h02"));
  await until(() => stored() === 2);

  const wrong = new Peer(own);
  wrong.send(reportOf("h02"));
  await wrong.closed;
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unknownProtocol"}'), 1);

  // Its answers come from the port that the datagram went to, also where the sender uses both.
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const answers: number[] = [];
  socket.on("message", (_bytes, { port }) => answers.push(port));
  for (const port of [portOf(world, "h02", "udp"), world.port]) {
    socket.send(reportOf("h02"), port, "127.0.0.1");
    await until(() => answers.at(-1) === port);
  }
  assert.equal(stored(), 4);
});

test("a port for a protocol that there is not keeps the gateway from starting", options, async () => {
  await assert.rejects(startGateway({}, protocols, 0, "", "gt6=0"), {
    name: "PortsUnusable",
    message: "device.ports: there is no protocol gt6",
  });
});
