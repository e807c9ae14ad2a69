import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gt06 } from "../../src/protocols/gt06/index.ts";
import { h02 } from "../../src/protocols/h02/index.ts";
import { behindStore } from "../support/engine.ts";
import { Peer, simulatedReport, until } from "../support/gateway.ts";
import { call, dataFolder, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

const options = { timeout: 90_000 };
const id = "352990000000777";
const secret = "Zq-never-shown";

interface Identity {
  readonly ways: readonly {
    protocol: string;
    transport: string;
    trustedSince: string | null;
    networks: readonly { network: string; since: string }[];
  }[];
  readonly lastSeen: { protocol: string; transport: string; address: string } | null;
  readonly refused: readonly { cause: string; protocol: string; address: string; attempts: number }[];
}

async function identityOf(service: Service, device: string): Promise<Identity> {
  return (await call<{ identity: Identity }>(service, "GET", `/api/devices/${device}/identity`)).identity;
}

/** A data folder and the services that are started on it, one after the other. */
function place(context: TestContext) {
  const directory = dataFolder();
  const services: Service[] = [];
  context.after(async () => {
    for (const service of services) await service.stop();
    removeFolder(directory);
  });
  const start = async () => {
    const service = await startService(directory);
    services.push(service);
    return service;
  };
  return { directory, start };
}

async function phone(service: Service, query: string): Promise<string> {
  const peer = new Peer(service.devicePort);
  peer.send(`GET /?id=phone-1&lat=1&lon=2${query} HTTP/1.1\r\nConnection: close\r\n\r\n`);
  await peer.closed;
  return peer.received;
}

test(
  "a phone with a secret, from the command line to its refusal; the secret is nowhere to be read",
  options,
  async (context) => {
    const { directory, start } = place(context);
    const service = await start();
    const { waybeam } = commandLine(directory);
    const file = join(directory, "phone.key");
    writeFileSync(file, `${secret}\n`);
    const added = await waybeam(["device", "add", "phone-1", "--protocol", "osmand", "--secret-file", file, "--json"]);
    assert.equal(added.code, 0, added.err);
    const accepted = await phone(service, `&secret=${secret}`);
    assert.match(accepted, /^HTTP\/1.1 200 /);
    const wrong = await phone(service, "&secret=guessed");
    assert.match(wrong, /^HTTP\/1.1 404 /);
    const nobody = await phone(service, "&id=nobody");
    assert.equal(wrong, nobody);
    const set = await waybeam(["device", "set", "phone-1", "--network", "192.0.2.0/24"]);
    assert.equal(set.code, 0, set.err);
    assert.match(await phone(service, `&secret=${secret}`), /^HTTP\/1.1 404 /);
    const { lastSeen, refused } = await identityOf(service, "phone-1");
    assert.deepEqual([lastSeen?.protocol, lastSeen?.transport, lastSeen?.address], ["osmand", "http", "127.0.0.1"]);
    assert.deepEqual(
      refused.map(({ cause, protocol, address, attempts }) => [cause, protocol, address, attempts]),
      [
        ["network", "osmand", "127.0.0.1", 1],
        ["secret", "osmand", "127.0.0.1", 1],
      ],
    );
    const shown = await waybeam(["device", "identity", "phone-1"]);
    assert.match(shown.out, /network +osmand +127\.0\.0\.1/);
    const unknown = (await call<{ quarantine: { ids: string[] }[] }>(service, "GET", "/api/quarantine")).quarantine;
    assert.deepEqual(
      unknown.map(({ ids }) => ids.join()),
      ["nobody"],
    );
    const listed = JSON.stringify(await call(service, "GET", "/api/devices"));
    await service.stop();
    const behind = await behindStore(directory);
    const rows = await behind.everything([]);
    await behind.close();
    assert.match(rows, /phone-1/);
    const files = readdirSync(directory).filter((name) => name !== "phone.key");
    const stored = files.map((name) => readFileSync(join(directory, name), "latin1"));
    for (const text of [added.out, set.out, set.err, shown.out, listed, service.said(), rows, ...stored])
      assert.ok(!text.includes(secret));
  },
);

test("a device that was deleted and made again was not seen yet", options, async (context) => {
  const service = await place(context).start();
  const device = { id: "phone-1", name: "Phone" };
  await call(service, "POST", "/api/devices", device);
  assert.match(await phone(service, ""), /^HTTP\/1.1 200 /);
  assert.equal((await identityOf(service, "phone-1")).lastSeen?.protocol, "osmand");
  await call(service, "DELETE", "/api/devices/phone-1");
  await call(service, "POST", "/api/devices", device);
  assert.equal((await identityOf(service, "phone-1")).lastSeen, null);
});

test(
  "a device with a new tracker: the old one's connection ends, and what waits and was reported is the new one's",
  options,
  async (context) => {
    const { directory, start } = place(context);
    const service = await start();
    const next = "352990000000785";
    await call(service, "POST", "/api/devices", { id, name: "Truck 12" });
    const old = new Peer(service.devicePort);
    old.send(h02.simulate?.report(id, [{ ...simulatedReport, time: Date.now() - 60_000 }], 1) ?? "");
    const last = async (device: string) => {
      const path = `/api/devices/${device}/lastLocation`;
      return (await call<{ lastLocation: { dateTime: string } | null }>(service, "GET", path)).lastLocation;
    };
    await until(async () => (await last(id)) !== null);
    const { dateTime } = (await last(id)) ?? {};
    const early = new Peer(service.devicePort);
    early.send(gt06.simulate?.login?.(next, 1) ?? "");
    await until(async () => {
      const { quarantine } = await call<{ quarantine: { ids: string[] }[] }>(service, "GET", "/api/quarantine");
      return quarantine.some(({ ids }) => ids.includes(next));
    });

    const { waybeam } = commandLine(directory);
    const changed = await waybeam(["device", "change-id", id, next]);
    assert.equal(changed.code, 0, changed.err);
    assert.match(changed.out, new RegExp(`^id +${next}\nname +Truck 12\n`));
    await old.closed;
    assert.equal((await last(next))?.dateTime, dateTime);
    const twice = await waybeam(["device", "change-id", id, next]);
    assert.match(twice.err, /device not found/);

    await call(service, "POST", `/api/devices/${next}/sendCommand`, { command: "cut the engine" });
    const own = new Peer(service.devicePort);
    own.send(gt06.simulate?.login?.(next, 1) ?? "");
    await until(() => own.received.includes("cut the engine"));
    await until(async () => (await identityOf(service, next)).ways.length > 0);
    const { ways, refused } = await identityOf(service, next);
    assert.deepEqual([ways.map(({ protocol }) => protocol), refused], [["gt06"], []]);
  },
);

test("commands that waited for a device with another id are sent to its new tracker", options, async (context) => {
  const { start } = place(context);
  const service = await start();
  const next = "352990000000785";
  await call(service, "POST", "/api/devices", { id });
  await call(service, "POST", `/api/devices/${id}/sendCommand`, { command: "cut the engine" });
  await call(service, "POST", `/api/devices/${id}/changeId`, { id: next });
  const own = new Peer(service.devicePort);
  own.send(gt06.simulate?.login?.(next, 1) ?? "");
  await until(() => own.received.includes("cut the engine"));
});

test(
  "how a device spoke is known after a restart: a login in another protocol is not sent what waits for it",
  options,
  async (context) => {
    const { start } = place(context);
    const first = await start();
    await call(first, "POST", "/api/devices", { id });
    const own = new Peer(first.devicePort);
    own.send(gt06.simulate?.login?.(id, 1) ?? "");
    await until(async () => (await identityOf(first, id)).ways.length === 1);
    const networks = (await identityOf(first, id)).ways[0]?.networks;
    assert.equal(networks?.[0]?.network, "127.0.0.0/16");
    own.end();
    await first.stop();

    const second = await start();
    await call(second, "POST", `/api/devices/${id}/sendCommand`, { command: "cut the engine" });
    const stranger = new Peer(second.devicePort);
    stranger.send(h02.simulate?.report(id, [{ ...simulatedReport, time: Date.now() - 60_000 }], 1) ?? "");
    await until(async () => (await identityOf(second, id)).ways.length === 2);
    const { ways } = await identityOf(second, id);
    assert.deepEqual(
      ways.map(({ protocol, trustedSince }) => [protocol, trustedSince !== null]),
      [
        ["gt06", true],
        ["h02", false],
      ],
    );
    assert.deepEqual(ways[0]?.networks, networks);
    const again = new Peer(second.devicePort);
    again.send(gt06.simulate?.login?.(id, 1) ?? "");
    await until(() => again.received.includes("cut the engine"));
    assert.ok(!stranger.received.includes("cut"));
    for (const peer of [stranger, again]) peer.end();
  },
);
