import assert from "node:assert/strict";
import { test } from "node:test";
import { record } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { BlockCache } from "./block-cache.ts";

function blockOf(seq: number, first = seq * 100) {
  const records = Array.from({ length: 10 }, (_, at) => record(first + at));
  return { ...storedBlock(records), seq, bytes: packedRecords(records).length };
}

test("the second request for a block unpacks and keeps it", () => {
  const cache = new BlockCache(100_000);
  const block = blockOf(1);
  assert.equal(cache.ask(block), undefined);
  assert.equal(cache.bytes, 0);
  assert.equal(cache.ask(block)?.length, block.bytes);
  assert.equal(cache.bytes, block.bytes);
  assert.equal(cache.find(block), cache.ask(block));
});

test("a block with the same row number and another checksum is not found, and takes the place of the first", () => {
  const cache = new BlockCache(100_000);
  cache.unpack(blockOf(1));
  const other = blockOf(1, 5);
  assert.equal(cache.find(other), undefined);
  const records = cache.unpack(other);
  assert.equal(cache.find(other), records);
  assert.equal(cache.bytes, other.bytes);
});

test("the cache keeps to its bytes, and finds at least a third of blocks that need half as much again", () => {
  const blocks = Array.from({ length: 60 }, (_, seq) => blockOf(seq));
  const cache = new BlockCache(40 * Math.max(...blocks.map(({ bytes }) => bytes)));
  let [found, asked] = [0, 0];
  for (let round = 0; round < 50; round++)
    for (const block of blocks) {
      asked++;
      if (cache.find(block) !== undefined) found++;
      cache.unpack(block);
      assert.ok(cache.bytes <= 40 * 2000);
    }
  assert.ok(found / asked > 0.33, `${found} of ${asked}`);
  const none = new BlockCache(0);
  none.unpack(blockOf(1));
  assert.equal(none.bytes, 0);
});
