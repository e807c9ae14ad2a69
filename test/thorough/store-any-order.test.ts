import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "../../src/store/backup/check.ts";
import { World } from "../support/any-order.ts";
import {
  comesAgainFromMemory,
  historyInAnyOrder,
  killedAtRandom,
  readMeanwhile,
} from "../support/any-order-stories.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { worldFor } from "../support/world-for.ts";

test("a history in any order, sealed in between, is that of the plain fold", { timeout: 100_000 }, async (context) => {
  await historyInAnyOrder(await worldFor(context), 6);
});

test("what was sent live and comes again from the tracker's memory is a repeat, and the other way round, sealed or not", async (context) => {
  await comesAgainFromMemory(await worldFor(context));
});

test("killed at random moments of sealing: what was acknowledged is there, whole and once", {
  timeout: 90_000,
}, async (context) => {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  await killedAtRandom(new World(directory), context, 5, async (told) => {
    const work = { signal: context.signal, progress: () => {} };
    const { findings } = await check({ directory, secretFile: undefined, pid: process.pid }, work);
    assert.deepEqual(findings, [], told);
  });
});

test("who reads while late reports come and are sealed sees each acknowledged one, once and in order, with the totals of what is stored", {
  timeout: 100_000,
}, async (context) => {
  await readMeanwhile(await worldFor(context), context, ["any order", "newest first", "late parts"]);
});
