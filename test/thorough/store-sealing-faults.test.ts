import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fix } from "../../src/model/effects.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { check } from "../../src/store/backup/check.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, type World } from "../support/any-order.ts";
import { unreliable } from "../support/unreliable.ts";
import { worldFor } from "../support/world-for.ts";

function submitted(world: World, device: Admitted, fixes: readonly Fix[]): Promise<string> {
  return new Promise((resolve) => world.ingest.submit(device, fixes, Date.UTC(2026, 6, 1), resolve));
}

/** Removes a device while it is sealed and reports, and sees that nothing of it is left. */
async function removed(world: World, admitted: Admitted, random: () => number, fixes: readonly Fix[]): Promise<void> {
  const faults = unreliable(random, { swap: 0.3, seal: 0.2, forget: 0.3, purge: 0.3 });
  try {
    const { key: device } = admitted;
    const late = fixes.map((fix) => ({ ...fix, course: 361 }));
    const stored = submitted(world, admitted, late);
    void world.store.seal(device);
    await sleep(random() * 60);
    await world.store.devices.remove(device);
    await stored;
    const database = new DatabaseSync(join(world.place, "waybeam.db"), { readOnly: true });
    const rows = (table: string, where: string) =>
      Number(database.prepare(`select count(*) as n from ${table} where ${where}`).get()?.n);
    while (rows("purge", "true") > 0) await sleep(5);
    for (const table of ["tail", "block", "shifts", "patch"]) assert.equal(rows(table, `device = ${device}`), 0, table);
    assert.equal(rows("block_data", "seq not in (select seq from block)"), 0);
    database.close();
  } finally {
    faults.end();
  }
}

test("a history in any order is that of the plain fold, whichever calls of commits and of sealing fail, are done unheard, or kill their worker", {
  timeout: 120_000,
}, async (context) => {
  const world = await worldFor(context);
  const account = await makeAccount(world.store);
  for (let round = 0; round < Number(process.env.ROUNDS ?? 2); round++) {
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
        // A tracker that is not acknowledged sends again.
        while ((await submitted(world, admitted, some)) !== "stored") await sleep(20);
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
    assert.deepEqual(
      (await check({ directory: world.place, secretFile: undefined, pid: process.pid }, work)).findings,
      [],
    );
    await world.start();
    await world.compare(device.key, delivered, `seed ${seed}, after a restart`);
    await removed(world, await world.admitted(device.id), random, delivered.slice(0, 300));
  }
});

/** Stores a device's reports, some at a time, and asks for it to be sealed now and then. */
async function reported(world: World, admitted: Admitted, fixes: readonly Fix[], random: () => number): Promise<void> {
  for (let at = 0; at < fixes.length; ) {
    if (random() < 0.2) await world.store.seal(admitted.key);
    else if (random() < 0.3) void world.store.seal(admitted.key);
    const some = fixes.slice(at, at + Math.ceil(random() * 60));
    at += some.length;
    while ((await submitted(world, admitted, some)) !== "stored") await sleep(20);
  }
}

test("devices that are sealed in turns keep the histories of the plain fold, whatever fails, even while one of them is removed", {
  timeout: 120_000,
}, async (context) => {
  const world = await worldFor(context);
  const account = await makeAccount(world.store);
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  const random = chance(seed);
  context.diagnostic(`seed ${seed}`);
  const devices = await Promise.all(
    (["late parts", "late parts", "newest first"] as const).map(async (way) => {
      const admitted = await world.admitted((await makeDevice(world.store, account.key)).id);
      return { admitted, fixes: delivery(drive(random, 4000), random, way) };
    }),
  );
  // A tail of this length is sealed in several slices.
  const tail = 3500;
  let faults = unreliable(random, { seal: 1 });
  for (let at = 0; at < tail; at += 500)
    await Promise.all(devices.map(({ admitted, fixes }) => world.deliver(admitted, fixes.slice(at, at + 500))));
  faults.end();
  faults = unreliable(random, { swap: 0.2, forget: 0.2, seal: 0.1, purge: 0.2 });
  const [gone, ...kept] = devices;
  try {
    for (const { admitted } of devices) void world.store.seal(admitted.key);
    const others = kept.map(({ admitted, fixes }) => reported(world, admitted, fixes.slice(tail), random));
    if (gone !== undefined) {
      await reported(world, gone.admitted, gone.fixes.slice(tail, tail + 100), random);
      await world.store.devices.remove(gone.admitted.key);
    }
    await Promise.all(others);
  } finally {
    faults.end();
  }
  for (const { admitted, fixes } of kept) {
    await world.compare(admitted.key, fixes, `seed ${seed}`);
    await world.store.seal(admitted.key);
    await world.compare(admitted.key, fixes, `seed ${seed}, sealed`);
  }
  await world.stop();
  await world.start();
  for (const { admitted, fixes } of kept) await world.compare(admitted.key, fixes, `seed ${seed}, after a restart`);
});
