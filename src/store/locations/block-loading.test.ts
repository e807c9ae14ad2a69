import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { chance } from "../../../test/support/any-order.ts";
import { silentLog } from "../../../test/support/silent-log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { BlockLoading } from "./block-loading.ts";
import { type Link, type ReaderCalls, scanColumns } from "./calls.ts";
import { ChunkIndex } from "./chunk-index.ts";
import type { DeviceChunks } from "./device-chunks.ts";
import { Mutex } from "./mutex.ts";

const devices = 4;
const noTelling = { tellDamage() {}, tellLost() {} };

/** Numbers of a row of a scan. */
type Row = readonly number[];

const contentOf = (chunks: DeviceChunks | undefined) =>
  Array.from({ length: chunks?.length ?? 0 }, (_, at) => [chunks?.seq(at), chunks?.first(at), chunks?.isSealed(at)]);

/** Blocks in the order of their row numbers. Some were lifted since: they are as of higher numbers, which no row has. */
function someBlocks(random: () => number): readonly Row[] {
  let seq = 0;
  return Array.from({ length: 30 + Math.floor(random() * 60) }, () => {
    seq += 1 + Math.floor(random() * 3);
    const [device, first] = [1 + Math.floor(random() * devices), Math.floor(random() * 1000)];
    return [seq, device, first, first + Math.floor(random() * 50), 1, 100, seq + (random() < 0.1 ? 150 : 0)];
  });
}

/** A reader that answers some rows at a time, whenever it likes, and fails now and then. */
function readerOf(blocks: readonly Row[], random: () => number): Link<ReaderCalls> {
  const call = async (name: string, from: number) => {
    for (let turns = Math.floor(random() * 4); turns > 0; turns--) await turn();
    if (random() < 0.1) throw new StoreUnavailable("the disk is busy");
    if (name === "blockCounts")
      return Float64Array.from(blocks.slice(0, devices).flatMap(([, device = 0]) => [device, 3]));
    const some = blocks.filter(([seq = 0]) => seq >= from).slice(0, 1 + Math.floor(random() * 9));
    return Float64Array.from(some.flat());
  };
  return { call } as unknown as Link<ReaderCalls>;
}

test("blocks that are read while commits come, some without an answer, make the index that all chunks would have made at once", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = chance(seed);
    const blocks = someBlocks(random);
    const index = new ChunkIndex();
    const turns = new Mutex();
    index.past(blocks.at(-1)?.[0] ?? 0);
    const written: Row[] = [];
    let isUncertain = false;
    const settle = async () => {
      if (!isUncertain) return;
      const from = index.next;
      await turn();
      for (const [seq = 0, device = 0, first = 0] of written)
        if (seq >= from) index.add(device, seq, { first, last: first, count: 1, bytes: 1 });
      isUncertain = false;
    };
    const loading = new BlockLoading({
      reader: readerOf(blocks, random),
      index,
      sealer: noTelling,
      log: silentLog,
      turns,
      settle,
      onWhole() {},
    });
    const commit = async () => {
      await settle();
      const [seq, device, first] = [index.next, 1 + Math.floor(random() * devices), Math.floor(random() * 2000)];
      await turn();
      written.push([seq, device, first]);
      isUncertain = random() < 0.3;
      if (!isUncertain) index.add(device, seq, { first, last: first, count: 1, bytes: 1 });
    };
    const commits = (async () => {
      while (!loading.isWhole) await turns.run(commit);
    })();
    while (!loading.isWhole) await loading.whole().catch(() => undefined);
    await commits;
    await turns.run(settle);

    const all = new ChunkIndex();
    for (let at = 0; at < blocks.length; at++) all.addScanned(Float64Array.from(blocks[at] ?? []), 0, new Map());
    for (const [seq = 0, device = 0, first = 0] of written)
      all.add(device, seq, { first, last: first, count: 1, bytes: 1 });
    for (let device = 1; device <= devices; device++)
      assert.deepEqual(contentOf(index.get(device)), contentOf(all.get(device)), `device ${device}, seed ${seed}`);
    assert.equal(new Set([...written, ...blocks].map(([seq]) => seq)).size, written.length + blocks.length);
    assert.ok(
      blocks.every((row) => index.next > (row[scanColumns - 1] ?? 0)),
      `numbers are above what blocks are as of, seed ${seed}`,
    );
    assert.equal(index.blocks, blocks.length);
    assert.equal(index.tail.chunks, written.length);
  }
});

test("blocks are read once, and whoever waits for them when the store closes is told", async () => {
  const index = new ChunkIndex();
  const asked = Promise.withResolvers<void>();
  const goes = Promise.withResolvers<void>();
  let scans = 0;
  const call = async (name: string, from: number) => {
    if (name === "blockCounts") return new Float64Array(0);
    scans++;
    asked.resolve();
    await goes.promise;
    return Float64Array.from(from <= 5 ? [from, 1, from, from, 1, 100, from] : []);
  };
  const reader = { call } as unknown as Link<ReaderCalls>;
  const parts = { reader, sealer: noTelling, log: silentLog, turns: new Mutex(), settle: async () => {}, onWhole() {} };
  const loading = new BlockLoading({ ...parts, index });
  const waits = [loading.whole(), loading.whole()];
  goes.resolve();
  await Promise.all([...waits, loading.whole()]);
  assert.equal(scans, 6);
  assert.deepEqual(index.get(1)?.overlapping(1, 9), [1, 2, 3, 4, 5]);

  const closed = new BlockLoading({ ...parts, index: new ChunkIndex() });
  const waiting = closed.whole();
  closed.close();
  await assert.rejects(waiting, /closing/);
  await assert.rejects(closed.whole(), /closing/);
});

test("blocks do not wait for a turn at the writer, unless they raise the next row number: a fleet that comes back after a start commits all the time", async () => {
  const index = new ChunkIndex();
  index.past(5);
  const turns = new Mutex();
  const end = await turns.acquire();
  let settles = 0;
  const call = async (name: string, from: number) =>
    Float64Array.from(name === "scanBlocks" && from <= 5 ? [from, 1, from, from, 1, 100, from === 4 ? 9 : from] : []);
  const loading = new BlockLoading({
    reader: { call } as unknown as Link<ReaderCalls>,
    index,
    sealer: noTelling,
    log: silentLog,
    turns,
    settle: async () => void settles++,
    onWhole() {},
  });
  const whole = loading.whole();
  for (let more = 0; more < 20; more++) await turn();
  assert.deepEqual([index.blocks, index.next, loading.isWhole], [3, 6, false]);
  end();
  await whole;
  assert.deepEqual([index.blocks, index.next, settles], [5, 10, 1]);
});

test("blocks that can't be read are told by the check, and are read as soon as they can be, though nobody asks", async () => {
  const index = new ChunkIndex();
  let failures = 0;
  const call = async (name: string, from: number) => {
    if (name === "blockCounts") return new Float64Array(0);
    if (failures++ < 2) throw new StoreUnavailable("the server is gone");
    return Float64Array.from(from <= 5 ? [from, 1, from, from, 1, 100, from] : []);
  };
  const reader = { call } as unknown as Link<ReaderCalls>;
  const whole = Promise.withResolvers<void>();
  const loading = new BlockLoading({
    reader,
    index,
    sealer: noTelling,
    log: silentLog,
    turns: new Mutex(),
    settle: async () => {},
    onWhole: whole.resolve,
  });
  loading.check();
  await assert.rejects(loading.whole(), /the server is gone/);
  assert.throws(() => loading.check(), /the server is gone/);
  // The timers of the reading keep no process alive.
  const alive = setInterval(() => {}, 1000);
  loading.begin(1);
  await whole.promise;
  clearInterval(alive);
  await loading.whole();
  loading.check();
  assert.equal(index.blocks, 5);
});
