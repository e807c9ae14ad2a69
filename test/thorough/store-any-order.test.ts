import { test } from "node:test";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import {
  comesAgainFromMemory,
  historyInAnyOrder,
  killedAtRandom,
  readMeanwhile,
} from "../support/any-order-stories.ts";
import { folderOf } from "../support/service.ts";
import { worldFor } from "../support/world-for.ts";

test("a history in any order, packed in between, is that of the plain fold", { timeout: 100_000 }, async (context) => {
  await historyInAnyOrder(await worldFor(context), 6);
});

test("what was sent live and comes again from the tracker's memory is a repeat, and the other way round, packed or not", async (context) => {
  await comesAgainFromMemory(await worldFor(context));
});

test("what was not followed when the service ended is packed after the next start, though nothing more is appended", async (context) => {
  const world = await worldFor(context);
  const device = await makeDevice(world.store, (await makeAccount(world.store)).key);
  await world.deliver(await world.admitted(device.id), drive(chance(1), 100));
  await world.ingest.stop();
  await world.store.close();
  await world.start();
  await world.follower.head(device.key);
  await world.followed();
  await world.packAll();
});

test("killed at random moments of packing: what was acknowledged is there, whole and once", {
  timeout: 90_000,
}, async (context) => {
  await killedAtRandom(new World(folderOf(context)), context, 5);
});

test("who reads while late reports come and are packed sees each acknowledged one, once and in order, with the totals of what is stored", {
  timeout: 100_000,
}, async (context) => {
  await readMeanwhile(await worldFor(context), context, ["any order", "newest first", "late parts"]);
});
