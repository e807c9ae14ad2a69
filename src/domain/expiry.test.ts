import assert from "node:assert/strict";
import { mock, test } from "node:test";
import fc from "fast-check";
import type { Device } from "../model/device.ts";
import { noIdentityRules } from "../model/device.ts";
import type { Bus, BusEvent } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";
import { ExpiryWatch } from "./expiry.ts";

const day = 86_400_000;
const sleepMs = 5000;

/** Devices in memory, a bus, and a clock that the test sets; timers are the test's too. */
function makeWorld() {
  const world = { now: day, down: false, asked: 0, warned: 0 };
  const expiries = new Map<string, number | null>();
  const told: string[] = [];
  const listeners = new Set<(event: BusEvent) => void>();
  const bus: Bus = {
    publish: (event) => {
      for (const listener of listeners) listener(event);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
  };
  const dueBetween = (since: number, until: number) =>
    [...expiries].filter(([, at]) => at !== null && at > since && at <= until).map(([id]) => deviceOf(id));
  const devices = {
    async nextExpiry(now: number) {
      world.asked++;
      if (world.down) throw new Error("the store is down");
      const ahead = [...expiries.values()].filter((at) => at !== null).filter((at) => at > now);
      return ahead.length === 0 ? undefined : Math.min(...ahead);
    },
    async expiredBetween(since: number, until: number) {
      if (world.down) throw new Error("the store is down");
      return dueBetween(since, until);
    },
  };
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn: () => void world.warned++, error: quiet, child: () => log };
  const clock = { now: () => world.now, monotonic: () => 0 };
  const expiry = new ExpiryWatch({ devices, bus, clock, log });
  bus.subscribe((event) => {
    if (event.type === "deviceChanged") told.push(event.id);
  });
  return { world, expiries, told, bus, expiry };
}

function deviceOf(id: string): Device {
  return {
    key: Number(id),
    id,
    accountKey: 1,
    aliases: [],
    name: id,
    description: null,
    min: null,
    tags: {},
    expires: null,
    dailyEmailLimit: 0,
    dailySmsLimit: 0,
    odometerStart: 0,
    identity: noIdentityRules,
    positionDays: null,
    timeOffset: 0,
    speedUnit: null,
    spoken: [],
    creation: 0,
    modification: 0,
  };
}

/** Lets what is under way end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets so much time of the timers pass (the wall clock is the test's own), and what it starts end. */
async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await settle();
}

test.beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
test.afterEach(() => mock.timers.reset());

test("each device is told of once, at its moment, however far off that was", async () => {
  const { world, expiries, told, expiry } = makeWorld();
  expiries
    .set("1", day + 1000)
    .set("2", day * 400)
    .set("3", null)
    .set("4", day);
  expiry.start();
  await settle();
  world.now += 999;
  await pass(999);
  assert.deepEqual(told, []);
  world.now += 1;
  await pass(1);
  assert.deepEqual(told, ["1"]);
  for (let hour = 0; hour < 3; hour++) {
    world.now += sleepMs;
    await pass(sleepMs);
  }
  assert.deepEqual(told, ["1"]);
  // Asleep until something is due or changes, it asks the store nothing.
  const { asked } = world;
  world.now += sleepMs;
  await pass(sleepMs);
  assert.equal(world.asked, asked);
  world.now = day * 400;
  await pass(sleepMs);
  assert.deepEqual(told, ["1", "2"]);
  await expiry.stop();
});

test("a change brings the moment forward; a thousand changes ask once", async () => {
  const { world, expiries, told, bus, expiry } = makeWorld();
  expiry.start();
  await settle();
  const { asked } = world;
  for (let index = 0; index < 1000; index++) {
    expiries.set(String(index), day + 200);
    bus.publish({ type: "deviceChanged", accountKey: 1, key: index, id: String(index) });
  }
  told.length = 0;
  world.now += 100;
  await pass(100);
  assert.equal(world.asked, asked + 1);
  assert.deepEqual(told, []);
  world.now += 100;
  await pass(100);
  assert.equal(told.length, 1000);
  await expiry.stop();
});

test("a clock that is set forward is noticed; set back, those whose moment lies ahead again are told of, and once more when it comes", async () => {
  const { world, expiries, told, expiry } = makeWorld();
  expiries.set("1", day * 2).set("2", day * 9);
  expiry.start();
  await settle();
  world.now = day * 5;
  await pass(sleepMs);
  assert.deepEqual(told, ["1"]);
  world.now = day;
  await pass(sleepMs);
  assert.deepEqual(told, ["1", "1"]);
  world.now = day * 2;
  await pass(sleepMs);
  assert.deepEqual(told, ["1", "1", "1"]);
  await expiry.stop();
});

test("a store that is down loses nothing; after its end the watch is silent", async () => {
  const { world, expiries, told, expiry } = makeWorld();
  expiries.set("1", day + 10).set("2", day + day);
  expiry.start();
  await settle();
  world.down = true;
  world.now += 10;
  await pass(10);
  await pass(1000);
  assert.deepEqual(told, []);
  assert.equal(world.warned, 2);
  world.down = false;
  await pass(1000);
  assert.deepEqual(told, ["1"]);
  await expiry.stop();
  world.now += day;
  await pass(sleepMs);
  assert.deepEqual(told, ["1"]);
});

test("whatever the clock does, who hears all that is told knows of each device whether it has expired", async () => {
  const step = fc.oneof(
    fc.record({ jump: fc.integer({ min: -3 * day, max: 3 * day }) }),
    fc.record({ wait: fc.integer({ min: 1, max: 2 * sleepMs }) }),
    fc.record({ id: fc.integer({ min: 1, max: 5 }), at: fc.option(fc.integer({ min: -day, max: 3 * day })) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { world, expiries, bus, expiry } = makeWorld();
      world.now = 100 * day;
      const expired = (id: string) => {
        const at = expiries.get(id) ?? null;
        return at !== null && at <= world.now;
      };
      const believed = new Map<string, boolean>();
      bus.subscribe((event) => {
        if (event.type === "deviceChanged") believed.set(event.id, expired(event.id));
      });
      expiry.start();
      await settle();
      for (const each of steps) {
        if ("jump" in each) world.now += each.jump;
        else if ("wait" in each) {
          world.now += each.wait;
          await pass(each.wait);
        } else {
          expiries.set(String(each.id), each.at === null ? null : world.now + each.at);
          bus.publish({ type: "deviceChanged", accountKey: 1, key: each.id, id: String(each.id) });
        }
      }
      await pass(sleepMs);
      for (const id of expiries.keys()) assert.equal(believed.get(id), expired(id), id);
      await expiry.stop();
    }),
    { numRuns: 200 },
  );
});
