import { test } from "node:test";
import { World } from "../support/any-order.ts";
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
