import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { TestContext } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, type Way, type World } from "./any-order.ts";
import { foldedTotals, type Location, totalsOf } from "./location-content.ts";

/*
 * What any engine must do with histories that come in any order. Each is a test's body.
 */

const cases = fc.record({
  seed: fc.integer(),
  count: fc.constantFrom(300, 1500, 2600),
  way: fc.constantFrom("any order", "newest first", "late parts", "late parts"),
  atOnce: fc.constantFrom(7, 40, 200),
  packs: fc.constantFrom(0.02, 0.1, 0.5),
});

/** A history in any order, packed in between, is that of the plain fold. */
export async function historyInAnyOrder(world: World, numRuns: number): Promise<void> {
  const account = await makeAccount(world.store);
  await fc.assert(
    fc.asyncProperty(cases, async ({ seed, count, way, atOnce, packs }) => {
      const random = chance(seed);
      const device = await makeDevice(world.store, account.key);
      const delivered = delivery(drive(random, count), random, way);
      let admitted = await world.admitted(device.id);
      let packing: Promise<unknown> = Promise.resolve();
      for (let at = 0; at < delivered.length; ) {
        const some = delivered.slice(at, at + Math.ceil(random() * atOnce));
        at += some.length;
        await world.deliver(admitted, some);
        // Mostly appends come meanwhile; a restart may find it half done.
        if (random() < packs) packing = Promise.all([packing, world.pack()]);
        if (random() < 0.2) await packing;
        if (random() < some.length / delivered.length) {
          await Promise.all([world.stop(), packing.catch(() => undefined)]);
          await world.start();
          admitted = await world.admitted(device.id);
          packing = Promise.resolve();
        }
      }
      await world.compareFollowed(device.key, delivered, "as it lies");
      await world.packAll();
      admitted = await world.admitted(device.id);
      await world.compare(device.key, delivered, "packed");
      // Repeats are found in blocks, too.
      await world.deliver(
        admitted,
        delivered.filter(() => random() < 0.05),
      );
      await world.compareFollowed(device.key, delivered, "after repeats");
    }),
    { numRuns },
  );
}

/** What was sent live and comes again from the tracker's memory is a repeat, and the other way round, packed or not. */
export async function comesAgainFromMemory(world: World): Promise<void> {
  const account = await makeAccount(world.store);
  const live = drive(chance(5), 700);
  const archived = live.map((fix) => ({ ...fix, attributes: { ...fix.attributes, archive: true } }));
  for (const [first, again] of [
    [live, archived],
    [archived, live],
  ] as const) {
    const device = await makeDevice(world.store, account.key);
    let admitted = await world.admitted(device.id);
    await world.deliver(admitted, first);
    await world.deliver(admitted, again);
    await world.compareFollowed(device.key, first, "from the log");
    await world.packAll();
    admitted = await world.admitted(device.id);
    // One after the other, newest first: each is late, or of the newest moment.
    for (let at = 20; at <= again.length; at += 20)
      await world.deliver(admitted, again.slice(-at, again.length - at + 20));
    await world.deliver(admitted, again);
    await world.compareFollowed(device.key, first, "from blocks");
  }
}

const child = fileURLToPath(new URL("./any-order-child.ts", import.meta.url));

/**
 * Runs a process that delivers a history and packs all the while, and kills it at a random moment. Gives how many
 * reports it said were stored.
 */
function killedWhilePacking(place: string, device: string, seed: number, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const run = spawn(process.execPath, [child, place, device, String(seed), String(from)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    const late = setTimeout(() => run.kill("SIGKILL"), 15_000);
    run.stdout.on("data", (bytes: Buffer) => {
      // From the first answer on: before, nothing is appended.
      if (said === "") setTimeout(() => run.kill("SIGKILL"), Math.random() * 700);
      said += bytes.toString();
    });
    run.on("error", reject);
    run.on("exit", () => {
      clearTimeout(late);
      resolve(Number(said.trimEnd().split("\n").at(-1) || from));
    });
  });
}

/**
 * A process that is killed at random moments: what was acknowledged is there, whole and once, and it is followed.
 * `world` does not stand yet.
 */
export async function killedAtRandom(world: World, context: TestContext, rounds: number): Promise<void> {
  await world.start();
  const device = await makeDevice(world.store, (await makeAccount(world.store)).key);
  await world.stop();
  const seed = Math.floor(Math.random() * 1e9);
  context.diagnostic(`seed ${seed}`);
  const random = chance(seed);
  const delivered = delivery(drive(random, 20_000), random, "late parts");
  let acknowledged = 0;
  for (let round = 0; round < rounds; round++)
    acknowledged = await killedWhilePacking(world.place, device.id, seed, acknowledged);
  await world.start();
  context.after(() => world.stop());
  context.diagnostic(`${acknowledged} reports acknowledged, ${world.store.positions.figures().blocks} blocks`);
  // Those that were in flight are stored, or come again.
  const admitted = await world.admitted(device.id);
  const all = delivered.slice(0, acknowledged + 200);
  await world.deliver(admitted, all.slice(acknowledged));
  await world.compareFollowed(device.key, all, "after the last kill");
  await world.packAll();
  await world.compare(device.key, all, "packed");
}

/** Numbers of the reports that a history has, in its order. */
function numbersOf(history: readonly Location[]): readonly number[] {
  return history.map(({ attributes }) => Number(attributes.number));
}

/**
 * Who reads while late reports come and are packed sees each acknowledged one, once and in order, with the totals of
 * what is stored.
 */
export async function readMeanwhile(world: World, context: TestContext, ways: readonly Way[]): Promise<void> {
  const account = await makeAccount(world.store);
  for (const way of ways) {
    const seed = Math.floor(Math.random() * 1e9);
    const random = chance(seed);
    const device = await makeDevice(world.store, account.key);
    const delivered = delivery(drive(random, 800), random, way);
    const admitted = await world.admitted(device.id);
    const acknowledged = new Set<number>();
    let [delivers, appends, whole] = [true, 0, 0];
    const reads = async () => {
      while (delivers) {
        await nextTurn();
        const [expected, before] = [[...acknowledged], appends];
        const history = await world.history(device.key);
        const numbers = new Set(numbersOf(history));
        assert.equal(numbers.size, history.length, `once, seed ${seed}`);
        assert.deepEqual(
          expected.filter((number) => !numbers.has(number)),
          [],
          `all, seed ${seed}`,
        );
        const times = history.map(({ dateTime }) => dateTime);
        assert.deepEqual(times, times.toSorted(), `in order, seed ${seed}`);
        // An append between two pages shows in the totals of the later one alone.
        if (appends !== before || before % 2 === 1) continue;
        whole++;
        assert.deepEqual(history.map(totalsOf), foldedTotals(history), `totals, seed ${seed}`);
      }
    };
    const packs = async () => {
      while (delivers) {
        await world.pack();
        await nextTurn();
      }
    };
    const others = [reads(), reads(), packs()];
    for (let at = 0; at < delivered.length; ) {
      const some = delivered.slice(at, at + Math.ceil(random() * 40));
      at += some.length;
      // Odd while an append is under way.
      appends++;
      await world.deliver(admitted, some);
      appends++;
      for (const { attributes } of some) acknowledged.add(Number(attributes.number));
      if (random() < 0.5) await sleep(random() * 30);
    }
    delivers = false;
    await Promise.all(others);
    context.diagnostic(`seed ${seed}: ${whole} histories were read between appends`);
  }
}
