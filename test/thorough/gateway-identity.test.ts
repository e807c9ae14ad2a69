import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { hashTrackerSecret } from "../../src/auth/tracker-secret.ts";
import { parseNetwork } from "../../src/model/network.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { Guard } from "../../src/ports/intake.ts";
import { osmand } from "../../src/protocols/osmand/index.ts";
import { fixtureProtocol } from "../support/fixture-protocol.ts";
import { metricOf, Peer, startGateway, until } from "../support/gateway.ts";

const options = { timeout: 20_000 };
const secret = "QXZ-the-secret";

async function worldOf(t: TestContext, guard: Guard) {
  const { id: _, ...rest } = fixtureProtocol;
  // Over HTTP the first that is asked is taken: phones' requests are OsmAnd's.
  const lines = { ...rest, id: "fixture", transports: ["tcp", "udp"] as const };
  const world = await startGateway({ refusedMessages: 1 }, [osmand, lines]);
  t.after(() => world.gateway.stop());
  world.intake.register("one", false, undefined, guard);
  return world;
}

type World = Awaited<ReturnType<typeof worldOf>>;

async function request(port: number, query: string, fields = "", from = "127.0.0.1"): Promise<string> {
  const peer = new Peer(port, from);
  peer.send(`GET /?id=one&lat=1&lon=2${query} HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`);
  await peer.closed;
  return peer.received.split("\r\n", 1)[0] ?? "";
}

const refusals = ({ quarantine }: World) =>
  quarantine.ofDevice("one").map(({ cause, protocol, address, attempts }) => [cause, protocol, address, attempts]);

test("a device that may speak one protocol is refused in another; its account sees it", options, async (t) => {
  const world = await worldOf(t, { protocols: new Set(["osmand"]) });
  const peer = new Peer(world.port);
  peer.send("#I,one\n#P,1\n");
  await peer.closed;
  assert.equal(peer.received, "");
  assert.deepEqual(refusals(world), [["protocol", "fixture", "127.0.0.1", 1]]);
  assert.deepEqual(world.quarantine.unknown(), []);
  assert.match(await request(world.port, ""), / 200 /);
  const barred = 'waybeam_reports_refused_total{protocol="fixture",cause="barred"}';
  assert.equal(await metricOf(world.metrics, barred), 1);
  assert.equal(world.intake.stored.get("one")?.length, 1);
});

test("a device that has networks is refused from elsewhere", options, async (t) => {
  const networks = ["127.0.0.2", "2001:db8::/32"].flatMap((text) => parseNetwork(text) ?? []);
  const world = await worldOf(t, { networks });
  assert.match(await request(world.port, "", "", "127.0.0.1"), / 404 /);
  assert.match(await request(world.port, "", "", "127.0.0.2"), / 200 /);
  assert.deepEqual(refusals(world), [["network", "osmand", "127.0.0.1", 1]]);
});

test(
  "a device with a secret: only who brings it is let in, and a protocol that carries none is refused",
  options,
  async (t) => {
    const world = await worldOf(t, { secretHash: hashTrackerSecret(secret, systemIds) });
    world.trace.follow({ id: "one", accountKey: 1 }, 0);
    for (const query of ["", "&secret=", "&secret=wrong", `&secret=${secret}x`])
      assert.match(await request(world.port, query), / 404 /, query);
    assert.match(await request(world.port, "", "Authorization: Bearer wrong\r\n"), / 404 /);
    const peer = new Peer(world.port);
    peer.send("#I,one\n#P,1\n");
    await peer.closed;
    assert.equal(peer.received, "");
    assert.equal(world.intake.stored.size, 0);
    assert.deepEqual(refusals(world), [
      ["secret", "fixture", "127.0.0.1", 1],
      ["secret", "osmand", "127.0.0.1", 5],
    ]);
    const basic = Buffer.from(`user:${secret}`).toString("base64");
    for (const [query, fields] of [
      [`&secret=${secret}`, ""],
      ["", `Authorization: Basic ${basic}\r\n`],
      ["", `Authorization: Bearer ${secret}\r\n`],
    ])
      assert.match(await request(world.port, query ?? "", fields), / 200 /);
    assert.equal(world.intake.stored.get("one")?.length, 3);

    // Nothing that people see has it.
    const entries = world.trace.follow({ id: "one", accountKey: 1 }, 0);
    assert.ok(entries.length >= 8);
    for (const { message, effects } of entries) {
      const text = Buffer.from(message, "hex").toString("latin1") + JSON.stringify(effects);
      assert.ok(!text.includes(secret) && !text.includes(basic) && !text.includes("wrong"), text);
    }
    const said = JSON.stringify([world.logged, world.quarantine.ofDevice("one"), [...world.intake.stored]]);
    assert.ok(!said.includes(secret));
  },
);

test("a rule that is set while the device is connected ends its connection", options, async (t) => {
  const world = await worldOf(t, {});
  const peer = new Peer(world.port);
  peer.send("#I,one\n");
  await peer.expect("#I\n");
  world.intake.register("one", false, undefined, { protocols: new Set(["osmand"]) });
  world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
  await peer.closed;
  assert.equal(world.gateway.connections.devices, 0);
  await until(async () => (await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="barred"}')) === 1);
});
