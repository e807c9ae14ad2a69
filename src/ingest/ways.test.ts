import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import type { SpokenWay } from "../model/device.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Ways } from "./ways.ts";

/** A store that keeps what it is given, or is down. */
function storeOf() {
  const kept = new Map<string, SpokenWay>();
  const store = {
    down: false,
    /** A device whose row is damaged. */
    spoilt: -1,
    calls: 0,
    kept,
    async spoke(ways: readonly { readonly device: number; readonly way: SpokenWay }[]) {
      store.calls++;
      if (store.down) throw new StoreUnavailable("disk full");
      if (ways.some(({ device }) => device === store.spoilt))
        throw new StoreUnavailable("a damaged page", undefined, "damaged");
      for (const { device, way } of ways) kept.set(`${device} ${way.protocol} ${way.transport}`, way);
    },
  };
  return store;
}

const clock = { now: () => 1000, monotonic: () => 1000 };
const tcp = { protocol: "gt06", transport: "tcp", address: "192.0.2.1" } as const;
const udp = { ...tcp, transport: "udp" } as const;
const speaking = (key: number, ways: readonly SpokenWay[] = []) => ({ key, id: `d${key}`, ways });

test("the first way is trusted, further ones are not; each is written once, however often it is taken", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = storeOf();
  const ways = new Ways(store, clock, silentLog);
  const device = speaking(1);
  assert.equal(ways.spoke(device, tcp).trustedAt, 1000);
  for (let count = 0; count < 100; count++) {
    ways.spoke(device, { ...tcp, address: `192.0.2.${count}` });
    assert.equal(ways.spoke(device, udp).trustedAt, null);
  }
  // Read again before the store had it, the device still has its first way.
  assert.equal(ways.spoke(speaking(1), udp).trustedAt, null);
  assert.equal(ways.spoke(speaking(1), tcp).trustedAt, 1000);
  t.mock.timers.tick(1000);
  await ways.close();
  assert.equal(store.calls, 1);
  assert.deepEqual(
    [...store.kept.values()].map(({ transport, trustedAt, address }) => [transport, trustedAt, address]),
    [
      ["tcp", 1000, "192.0.2.1"],
      ["udp", null, "192.0.2.1"],
    ],
  );
});

test("what the store does not take is tried again; a way that was trusted meanwhile is written so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = storeOf();
  const ways = new Ways(store, clock, silentLog);
  const device = speaking(1, [{ ...tcp, since: 1, trustedAt: 1, networks: [] }]);
  const way = ways.spoke(device, udp);
  store.down = true;
  for (let count = 1; count <= 3; count++) {
    t.mock.timers.tick(1000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(store.calls, count);
  }
  ways.trust(device, way);
  assert.equal(ways.spoke(device, udp).trustedAt, 1000);
  store.down = false;
  t.mock.timers.tick(1000);
  await ways.close();
  assert.deepEqual(
    [...store.kept.values()],
    [{ ...udp, since: 1000, trustedAt: 1000, networks: [{ network: "192.0.0.0/16", since: 1000 }] }],
  );
});

test("a way keeps the networks that its device came from, each once, the latest eight, and one an hour beyond these", async () => {
  const store = storeOf();
  let now = 1000;
  const ways = new Ways(store, { now: () => now, monotonic: () => now }, silentLog);
  const device = speaking(1);
  const from = (address: string) => ways.spoke(device, { ...tcp, address }).networks.map(({ network }) => network);
  from("192.0.2.1");
  assert.deepEqual(from("192.0.200.1"), ["192.0.0.0/16"]);
  assert.deepEqual(from("2001:db8:1::1"), ["192.0.0.0/16", "2001:db8::/32"]);
  const lists = Array.from({ length: 20 }, (_, at) => from(`10.${at}.0.1`));
  assert.deepEqual(lists.at(-1)?.slice(-1), ["10.5.0.0/16"]);
  now += 3_600_000;
  assert.deepEqual(from("10.77.0.1").slice(0, 1), ["2001:db8::/32"]);
  await ways.close();
  assert.equal(store.kept.get("1 gt06 tcp")?.networks.length, 8);
  assert.equal(store.kept.get("1 gt06 tcp")?.networks.at(-1)?.network, "10.77.0.0/16");
});

test("a whole fleet's ways are written before the end", async () => {
  const store = storeOf();
  const ways = new Ways(store, clock, silentLog);
  for (let key = 0; key < 1234; key++) ways.spoke(speaking(key), tcp);
  await ways.close();
  assert.equal(store.kept.size, 1234);
});

test("a device whose row is damaged keeps no other's ways from being written", async () => {
  const store = storeOf();
  store.spoilt = 3;
  const ways = new Ways(store, clock, silentLog);
  for (let key = 0; key < 1234; key++) ways.spoke(speaking(key), tcp);
  await ways.close();
  assert.equal(store.kept.size, 1233);
  assert.ok(store.calls < 30, `${store.calls} calls`);
});

test("a way by which another process was reported to is known, and not taken for the first", async () => {
  const store = storeOf();
  const ways = new Ways(store, clock, silentLog);
  const device = speaking(1);
  ways.told(device, { id: "d1", key: 1, at: 900, ...tcp, mark: 1 });
  assert.equal(ways.spoke(device, udp).trustedAt, null);
  assert.equal(ways.spoke(device, tcp).trustedAt, 900);
  // What is trusted there is trusted here.
  ways.told(device, { id: "d1", key: 1, at: 950, ...udp });
  assert.equal(ways.spoke(device, udp).trustedAt, null);
  ways.told(device, { id: "d1", key: 1, at: 960, ...udp, mark: 2 });
  assert.equal(ways.spoke(device, udp).trustedAt, 960);
  await ways.close();
  // The other process stores its own.
  assert.deepEqual([...store.kept.keys()], ["1 gt06 udp"]);
});
