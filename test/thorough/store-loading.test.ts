import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Fix } from "../../src/model/effects.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, type Way, World } from "../support/any-order.ts";
import { crashed, findingsOf, folder } from "../support/kept-states.ts";

/*
 * A start does not wait for the blocks. What is asked of the store right after it must be the same as if it had.
 */

/** A device, how its history comes, and how much of it has come. */
interface Reporting {
  readonly id: string;
  readonly key: number;
  readonly all: readonly Fix[];
  came: number;
}

const ways: readonly Way[] = ["late parts", "late parts", "any order"];

async function devicesOf(world: World, random: () => number): Promise<readonly Reporting[]> {
  const account = await makeAccount(world.store);
  const devices: Reporting[] = [];
  for (const way of ways) {
    const { id, key } = await makeDevice(world.store, account.key);
    devices.push({ id, key, all: delivery(drive(random, 1800), random, way), came: 0 });
  }
  return devices;
}

/** Delivers more of a device's history, as one or several messages at a time. */
async function deliverMore(world: World, device: Reporting, random: () => number): Promise<void> {
  const admitted = await world.admitted(device.id);
  const from = device.came;
  device.came = Math.min(device.all.length, from + Math.ceil(random() * 600));
  const messages: Promise<void>[] = [];
  for (let at = from; at < device.came; ) {
    const to = Math.min(device.came, at + Math.ceil(random() * 40));
    messages.push(world.deliver(admitted, device.all.slice(at, to)));
    at = to;
    if (random() < 0.3) await Promise.all(messages);
  }
  await Promise.all(messages);
}

/** What one device is asked right after a start, while the others report. */
async function ask(world: World, { key, all, came }: Reporting, random: () => number, what: string): Promise<void> {
  const { locations } = world.store;
  const delivered = all.slice(0, came);
  const time = delivered[Math.floor(random() * came)]?.time ?? 0;
  const stored = new Set(delivered);
  const of = [...stored].filter((fix) => fix.time === time).length;
  const before = [...stored].filter((fix) => fix.time < time).length;
  const asked = [
    async () => world.compare(key, delivered, what),
    async () => assert.equal([...(await locations.moment(key, time)).hashes].length, of, `a moment, ${what}`),
    async () => {
      const place = { time, arrival: Number.NEGATIVE_INFINITY };
      const context = await locations.context(key, place, 1);
      assert.equal(context.before === undefined, before === 0, `before a place, ${what}`);
      assert.equal(context.from[0]?.time, came === 0 ? undefined : time, `behind a place, ${what}`);
    },
    async () => {
      const old = await locations.oldPositions([key], time);
      await world.store.whole();
      assert.deepEqual(await locations.oldPositions([key], time), old, `old positions, ${what}`);
    },
  ];
  const first = Math.floor(random() * asked.length);
  // Whoever asks first has the blocks read.
  for (let at = 0; at < asked.length; at++) await asked[(first + at) % asked.length]?.();
}

test("what comes and is asked right after a start, before the blocks are read, makes and finds the history of the plain fold", {
  timeout: 200_000,
}, async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = chance(seed);
      let world = new World(folder(context));
      await world.start();
      const devices = await devicesOf(world, random);
      for (let start = 1; start <= 6; start++) {
        const what = `start ${start}, seed ${seed}`;
        const [asked, ...others] = devices.toSorted(() => random() - 0.5);
        const acts = others.map((device) => deliverMore(world, device, random));
        if (random() < 0.3) acts.push(...others.map(({ key }) => world.store.seal(key)));
        if (asked !== undefined && asked.came > 0 && start > 1) acts.push(ask(world, asked, random, what));
        await Promise.all(acts);
        if (random() < 0.7) for (const { key } of devices) await world.store.seal(key);
        const copy = random() < 0.5 ? crashed(context, world.place) : undefined;
        await world.stop();
        if (copy !== undefined) world = new World(copy);
        await world.start();
      }
      for (const { key, all, came } of devices)
        await world.compare(key, all.slice(0, came), `at the end, seed ${seed}`);
      await world.stop();
      assert.deepEqual(await findingsOf(world.place), []);
    }),
    { numRuns: 4 },
  );
});

test("a device that is removed right after a start leaves nothing, though its blocks were not read", async (context) => {
  const world = new World(folder(context));
  await world.start();
  const random = chance(1);
  const devices = await devicesOf(world, random);
  for (const device of devices) {
    await deliverMore(world, device, random);
    await world.store.seal(device.key);
  }
  await world.stop();
  await world.start();
  const [removed, kept] = devices;
  assert.ok(removed && kept);
  await world.store.devices.remove(removed.key);
  await world.store.whole();
  const database = new DatabaseSync(join(world.place, "waybeam.db"), { readOnly: true });
  const left = database.prepare("select count(*) as blocks from block where device = ?");
  while (Number(left.get(removed.key)?.blocks) > 0) await sleep(5);
  database.close();
  await world.compare(kept.key, kept.all.slice(0, kept.came), "of another device");
  await world.stop();
  assert.deepEqual(await findingsOf(world.place), []);
});

test("reports in order are stored before the blocks are read", async (context) => {
  const world = new World(folder(context));
  await world.start();
  const { id, key } = await makeDevice(world.store, (await makeAccount(world.store)).key);
  const fixes = drive(chance(7), 1500);
  await world.deliver(await world.admitted(id), fixes.slice(0, 1000));
  await world.store.seal(key);
  const { blocks } = world.store.sealing;
  assert.ok(blocks > 0);
  await world.stop();
  await world.start();
  await world.deliver(await world.admitted(id), fixes.slice(1000));
  assert.equal(world.store.sealing.blocks, 0);
  await world.store.whole();
  assert.equal(world.store.sealing.blocks, blocks);
  await world.compare(key, fixes, "in the end");
  await world.stop();
});
