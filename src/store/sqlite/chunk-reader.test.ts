import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { everything, record } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { BlockCache } from "./block-cache.ts";
import { ChunkReader } from "./chunk-reader.ts";

test("a history makes no block go that late reports need, also where late chunks lie beside its blocks", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(`
    create table tail (seq integer primary key, device, first, last, count, data);
    create table block (seq integer primary key, device, first, last, count, bytes, as_of, odometer_mm default 0,
      sensor1_ms default 0, sensor2_ms default 0, sensor3_ms default 0, sensor4_ms default 0);
    create table block_data (seq integer primary key, data);
    create table shifts (device, data);
    create table patch (key integer primary key, device, seq, first, last, data);
  `);
  const sealed = [record(1), record(2), record(4)];
  const { first, last, count, data } = storedBlock(sealed);
  const bytes = packedRecords(sealed).length;
  database
    .prepare("insert into block (seq, device, first, last, count, bytes, as_of) values (1, 1, ?, ?, ?, ?, 1)")
    .run(first, last, count, bytes);
  database.prepare("insert into block_data values (1, ?)").run(data);
  const late = record(3);
  database.prepare("insert into tail values (2, 1, ?, ?, 1, ?)").run(late.time, late.time, packedRecords([late]));
  const cache = new BlockCache(1_000_000);
  const reader = new ChunkReader(database, cache);
  const range = { ...everything, bound: Number.POSITIVE_INFINITY, after: undefined, readings: false, spares: [] };
  for (const seqs of [[1], [1, 2]]) {
    const pieces = reader.history({ ...range, device: 1, seqs }) ?? [];
    assert.equal(
      pieces.reduce((sum, piece) => sum + piece.count, 0),
      seqs.length + 2,
    );
    assert.equal(cache.bytes, 0);
  }
  database.close();
});
