import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, type World } from "./any-order.ts";

/** A device's tail is sealed when it has grown by the bytes of a block before packing, of which a start knows only what rows say. By then it has too few chunks and records. */
export async function sealsByBytes(context: TestContext, world: World): Promise<void> {
  const attributes = { text: "x".repeat(2000) };
  const fixes = drive(chance(2), 200).map((fix) => ({ ...fix, attributes }));
  await world.start();
  const account = await makeAccount(world.store);
  const { id, key } = await makeDevice(world.store, account.key);
  const first = await world.admitted(id);
  // 340 KB, a thirtieth of it packed.
  for (let at = 0; at < 160; at += 20) await world.deliver(first, fixes.slice(at, at + 20));
  await world.stop();
  await world.start();
  context.after(() => world.stop());
  assert.equal(world.store.sealing.tailPositions, 160);
  await world.deliver(await world.admitted(id), fixes.slice(160));
  for (let ms = 0; world.store.sealing.tailPositions > 0; ms += 10) {
    assert.ok(ms < 20_000, "the tail is sealed");
    await sleep(10);
  }
  await world.compare(key, fixes, "sealed");
}
