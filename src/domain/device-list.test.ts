import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createMemoryBus } from "../bus/memory.ts";
import type { User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import { noIdentityRules } from "../model/device.ts";
import { createDeviceList } from "./device-list.ts";
import type { Visibility } from "./visibility.ts";

const plain: Omit<Device, "id" | "key"> = {
  accountKey: 1,
  aliases: [],
  name: "Ñ",
  description: null,
  min: null,
  tags: { 'a"b': "\u2028" },
  expires: null,
  dailyEmailLimit: 50,
  dailySmsLimit: 10,
  odometerStart: 0,
  identity: noIdentityRules,
  positionDays: null,
  timeOffset: 0,
  speedUnit: null,
  spoken: [],
  creation: 0,
  modification: 0,
};

/** Lists over devices in a map; `seen`: ids in the user's scope, undefined: all. */
function build(seen?: readonly string[]) {
  const devices = new Map<string, Device>();
  const bus = createMemoryBus((error) => {
    throw error;
  });
  const time = { now: 1000 };
  let reads = 0;
  const visibility: Visibility = {
    scope: () => ({ all: seen === undefined, ids: new Set(seen) }),
    sees: () => true,
  };
  const lists = createDeviceList({
    store: {
      page: async (accountKey, now, { after = "", limit }) => {
        reads++;
        const active = [...devices.values()]
          .filter((device) => device.accountKey === accountKey && device.id > after)
          .filter(({ expires }) => expires === null || now < expires)
          .toSorted((one, other) => (one.id < other.id ? -1 : 1));
        return { rows: active.slice(0, limit), more: active.length > limit };
      },
      some: async (accountKey, ids, now) =>
        [...devices.values()]
          .filter((device) => device.accountKey === accountKey && ids.includes(device.id))
          .filter(({ expires }) => expires === null || now < expires)
          .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    },
    find: (id) => devices.get(id),
    bus,
    clock: { now: () => time.now, monotonic: () => 0 },
    visibility,
  });
  const user = { accountKey: 1 } as User;
  return {
    time,
    reads: () => reads,
    set(id: string, fields: Partial<Device>) {
      const device = { ...plain, ...fields, id, key: id.charCodeAt(0) };
      devices.set(id, device);
      bus.publish({ type: "deviceChanged", accountKey: device.accountKey, key: device.key, id });
    },
    remove(id: string) {
      const device = devices.get(id);
      devices.delete(id);
      if (device !== undefined) bus.publish({ type: "deviceChanged", accountKey: 1, key: device.key, id });
    },
    expected: () =>
      [...devices.values()]
        .filter(({ id, accountKey, expires }) => {
          const inScope = seen === undefined || seen.includes(id);
          return inScope && accountKey === 1 && (expires === null || time.now < expires);
        })
        .map(({ id }) => id)
        .toSorted(),
    async listed() {
      const text = Buffer.from((await lists.list(user)) ?? assert.fail("they are few")).toString();
      const list = JSON.parse(`[${text}]`) as { id: string }[];
      return list.map(({ id }) => id);
    },
    async paged(limit: number, bytes = 100_000) {
      const all: string[] = [];
      for (let after: string | undefined; ; ) {
        const { items, next } = await lists.page(user, { after, limit, bytes });
        assert.ok(items.length <= limit && (items.length > 0 || next === undefined));
        for (const item of items) all.push((JSON.parse(item) as { id: string }).id);
        if (next === undefined) return all;
        after = next;
      }
    },
  };
}

const step = fc.record({
  do: fc.constantFrom("set", "other", "remove", "pass", "back"),
  id: fc.constantFrom(..."abcdefghijkl"),
  by: fc.integer({ min: 1, max: 50 }),
  expires: fc.option(fc.integer({ min: 0, max: 300 }), { nil: null }),
});

for (const [name, seen] of [
  ["all of the account", undefined],
  ["a few devices", ["a", "K", "k", "x"]],
  ["many devices", [..."abcdefghABijK"]],
] as const)
  test(`a user who sees ${name} is shown what is there and has not expired, whatever changes and however the clock goes`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = build(seen);
        for (const { do: what, id, by, expires } of steps) {
          if (what === "set") world.set(id, { expires: expires === null ? null : 900 + expires });
          else if (what === "other") world.set(id.toUpperCase(), { accountKey: 2 });
          else if (what === "remove") world.remove(id);
          else world.time.now += what === "pass" ? by : -by;
          assert.deepEqual(await world.listed(), world.expected());
          assert.deepEqual(await world.paged(1 + (by % 4)), world.expected());
        }
      }),
      { numRuns: 60 },
    );
  });

test("a list is read again only when a device of its account changed", async () => {
  const world = build();
  world.set("a", {});
  await world.listed();
  world.set("b", { accountKey: 2 });
  await world.listed();
  assert.equal(world.reads(), 1);
  world.set("c", {});
  assert.deepEqual(await world.listed(), ["a", "c"]);
  assert.equal(world.reads(), 2);
});
