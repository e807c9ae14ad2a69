import assert from "node:assert/strict";
import { test } from "node:test";
import { record } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { decompressBlock, unpackBlock, unpackBody } from "../blocks/block.ts";
import { BlockCache } from "./block-cache.ts";

function blockOf(seq: number, first = seq * 100) {
  const records = Array.from({ length: 10 }, (_, at) => record(first + at));
  return { ...storedBlock(records), seq, bytes: packedRecords(records).length };
}

test("the cache keeps the body of a block that was asked for, and finds it again", () => {
  const cache = new BlockCache(100_000);
  const block = blockOf(1);
  assert.equal(cache.find(block), undefined);
  const body = cache.body(block);
  assert.deepEqual(unpackBody(body, block.bytes), unpackBlock(block, block.bytes));
  assert.equal(cache.find(block), body);
  assert.equal(cache.body(block), body);
  assert.equal(cache.bytes, body.bytes.length);
});

test("a block with the same row number and another checksum is another block, and replaces the first one", () => {
  const cache = new BlockCache(100_000);
  cache.body(blockOf(1));
  const other = blockOf(1, 5);
  assert.equal(cache.find(other), undefined);
  const body = cache.body(other);
  assert.equal(cache.find(other), body);
  assert.equal(cache.bytes, body.bytes.length);
});

test("the cache never exceeds its bytes, and still finds a third of the blocks when they need half as much again", () => {
  const blocks = Array.from({ length: 60 }, (_, seq) => blockOf(seq));
  const most = 40 * Math.max(...blocks.map((block) => decompressBlock(block).bytes.length));
  const cache = new BlockCache(most);
  let [found, asked] = [0, 0];
  for (let round = 0; round < 50; round++)
    for (const block of blocks) {
      asked++;
      if (cache.find(block) !== undefined) found++;
      cache.body(block);
      assert.ok(cache.bytes <= most);
    }
  assert.ok(found / asked > 0.33, `${found} of ${asked}`);
  const none = new BlockCache(0);
  none.body(blockOf(1));
  assert.equal(none.bytes, 0);
});
