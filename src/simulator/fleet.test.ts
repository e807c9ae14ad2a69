import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, lineService, lines } from "../../test/support/line-service.ts";
import { type FleetOptions, startFleet } from "./fleet.ts";
import { fleetDevices, identifier } from "./identity.ts";

/** A clock that goes on by 5 ms each time someone looks at it. */
function handClock() {
  let elapsed = 0;
  return { now: () => Date.UTC(2026, 0, 1) + elapsed, monotonic: () => (elapsed += 5) };
}

function fleetOptions(port: number, more: Partial<FleetOptions> = {}): FleetOptions {
  const register = () => Promise.resolve();
  const basics = { devices: 5, interval: 0.05, count: 6, protocols: [lines], seed: "s", host: "127.0.0.1" };
  return { ...basics, port, clock: handClock(), register, retryDelay: 2, ...more };
}

test("a fleet registers first, then every device sends its count of reports, and each is acknowledged", async (context) => {
  const { port, stored } = await lineService(context, accept);
  const registered: string[] = [];
  const register = async (devices: readonly { readonly id: string }[]) => {
    assert.equal(stored.size, 0);
    registered.push(...devices.map(({ id }) => id));
  };
  const fleet = await startFleet(fleetOptions(port, { register }));
  const stats = await fleet.finished;
  assert.deepEqual([stats.sent, stats.acked, stats.refused, stats.waiting, stats.connected], [30, 30, 0, 0, 0]);
  assert.deepEqual(new Set(stored.keys()), new Set(registered));
  for (const times of stored.values()) {
    assert.equal(times.length, 6);
    assert.deepEqual(times, times.toSorted());
  }
});

test("what was not acknowledged is sent again on a new connection, and nothing is lost", async (context) => {
  let messages = 0;
  const { port, stored } = await lineService(context, (words, socket) => {
    messages += 1;
    if (words[0] === "REPORT" && messages % 4 === 0) {
      socket.destroy();
      return undefined;
    }
    return accept(words);
  });
  const fleet = await startFleet(fleetOptions(port, { devices: 3, count: 4 }));
  const stats = await fleet.finished;
  assert.equal(stats.acked, 12);
  assert.ok(stats.reconnects > 0 && stats.resent > 0);
  for (const times of stored.values()) assert.equal(new Set(times).size, 4);
});

test("a service that says no is counted as refusing, and stop ends a fleet that can't finish", async (context) => {
  const { port } = await lineService(context, () => "NO");
  const fleet = await startFleet(fleetOptions(port, { devices: 2, backlog: 3 }));
  while (fleet.stats.refused < 2) await new Promise((done) => setTimeout(done, 5));
  const stats = await fleet.stop(10);
  assert.equal(stats.acked, 0);
  assert.equal(stats.connected, 0);
  assert.ok(stats.waiting > 0);
});

test("without a service the trackers wait and keep a bounded number of reports", async () => {
  const fleet = await startFleet(fleetOptions(1, { devices: 1, interval: 0.001, count: 40, backlog: 10 }));
  while (fleet.stats.dropped < 30) await new Promise((done) => setTimeout(done, 5));
  const stats = await fleet.stop(0);
  assert.deepEqual([stats.waiting, stats.sent, stats.dropped], [10, 0, 30]);
});

test("a seed names the same devices each time; identifiers are 15 digits and all different", () => {
  const size = { devices: 200, protocols: [lines], seed: "one" };
  const ids = fleetDevices(size).map(({ id }) => id);
  assert.deepEqual(
    ids,
    fleetDevices(size).map(({ id }) => id),
  );
  assert.equal(new Set([...ids, ...fleetDevices({ ...size, seed: "two" }).map(({ id }) => id)]).size, 400);
  for (const id of ids) assert.match(id, /^99\d{13}$/);
  assert.equal(identifier("one", 0).length, 15);
});
