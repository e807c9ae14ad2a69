import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { WorkerLink } from "../../src/store/sqlite/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, World } from "../support/any-order.ts";
import { dataFolder, removeFolder } from "../support/service.ts";

type Way = "not asked" | "answer lost" | "worker dies";
const ways: readonly Way[] = ["not asked", "answer lost", "worker dies"];

/** Lets calls to the store's workers fail by chance; gives how to end that, and how often each call failed. */
function unreliable(random: () => number, chances: Readonly<Record<string, number>>) {
  const { call } = WorkerLink.prototype;
  const failed = new Map<string, number>();
  WorkerLink.prototype.call = async function (this: WorkerLink<never>, ...given: Parameters<typeof call>) {
    const [name] = given;
    if (random() >= (chances[name] ?? 0)) return Reflect.apply(call, this, given);
    const way = ways[Math.floor(random() * ways.length)];
    const what = `${name}: ${way}`;
    failed.set(what, (failed.get(what) ?? 0) + 1);
    if (way === "not asked") throw new StoreUnavailable(what);
    const answer = Reflect.apply(call, this, given);
    if (way === "worker dies") await this.terminate();
    await answer;
    throw new StoreUnavailable(what);
  } as typeof call;
  return {
    failed,
    end() {
      WorkerLink.prototype.call = call;
    },
  };
}

test("a history in any order is that of the plain fold, whichever calls of commits and of sealing fail, are done unheard, or kill their worker", {
  timeout: 120_000,
}, async (context) => {
  const directory = dataFolder();
  const world = new World(directory);
  await world.start();
  context.after(async () => {
    await world.stop();
    removeFolder(directory);
  });
  const account = await makeAccount(world.store);
  for (let round = 0; round < Number(process.env.ROUNDS ?? 4); round++) {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9)) + round;
    const random = chance(seed);
    const device = await makeDevice(world.store, account.key);
    const way = (["any order", "newest first", "late parts"] as const)[Math.floor(random() * 3)] ?? "late parts";
    const delivered = delivery(drive(random, 4000), random, way);
    const admitted = await world.admitted(device.id);
    const faults = unreliable(random, { append: 0.02, swap: 0.2, forget: 0.2, seal: 0.1 });
    try {
      for (let at = 0; at < delivered.length; ) {
        const some = delivered.slice(at, at + Math.ceil(random() * 60));
        at += some.length;
        if (random() < 0.5) await world.store.seal(device.key);
        else void world.store.seal(device.key);
        await world.deliver(admitted, some);
      }
    } finally {
      faults.end();
    }
    context.diagnostic(`${seed} ${way}: ${[...faults.failed].map(([what, times]) => `${what} ${times}`).join(", ")}`);
    await world.compare(device.key, delivered, `seed ${seed}`);
    await world.store.seal(device.key);
    await world.store.seal(device.key);
    await world.compare(device.key, delivered, `seed ${seed}, sealed`);
    await world.stop();
    const work = { signal: context.signal, progress: () => {} };
    assert.deepEqual((await check({ directory, secretFile: undefined, pid: process.pid }, work)).findings, []);
    await world.start();
    await world.compare(device.key, delivered, `seed ${seed}, after a restart`);
  }
});
