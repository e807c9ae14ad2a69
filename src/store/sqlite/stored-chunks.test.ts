import assert from "node:assert/strict";
import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { everything, record } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { placeBefore } from "../../model/location.ts";
import { BlockCache } from "../locations/block-cache.ts";
import { contextOutcome } from "../locations/calls.ts";
import { rowSum } from "../records/row-sum.ts";
import { packStays } from "../records/spent.ts";
import { StoredChunks } from "./stored-chunks.ts";

const tables = `
  create table tail (seq integer primary key, device, first, last, count, data, crc);
  create table block (seq integer primary key, device, first, last, count, bytes, as_of, odometer_mm default 0,
    sensor1_ms default 0, sensor2_ms default 0, sensor3_ms default 0, sensor4_ms default 0, crc);
  create table block_data (seq integer primary key, data);
  create table device_state (device integer primary key, shifted);
  create table shifts (device, seq, since, count, data, crc);
  create table spent (device integer primary key, seq, data, crc);
  create table patch (key integer primary key, device, seq, first, last, count, data, crc);
`;

test("a history takes no room in the cache of blocks, even where late chunks lie beside its blocks", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(tables);
  const sealed = [record(1), record(2), record(4)];
  const { first, last, count, data } = storedBlock(sealed);
  const bytes = packedRecords(sealed).length;
  database
    .prepare("insert into block (seq, device, first, last, count, bytes, as_of) values (1, 1, ?, ?, ?, ?, 1)")
    .run(first, last, count, bytes);
  database.prepare("insert into block_data values (1, ?)").run(data);
  const late = record(3);
  database
    .prepare("insert into tail (seq, device, first, last, count, data) values (2, 1, ?, ?, 1, ?)")
    .run(late.time, late.time, packedRecords([late]));
  const cache = new BlockCache(1_000_000);
  const reader = new StoredChunks(database, cache);
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

test("rows of the tail that are in blocks by now are gone for who still asks for them: shifts may be folded into the blocks, and deleted", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(tables);
  for (const seq of [1, 2, 3]) {
    const one = record(seq);
    database
      .prepare("insert into tail (seq, device, first, last, count, data) values (?, 1, ?, ?, 1, ?)")
      .run(seq, one.time, one.time, packedRecords([one]));
  }
  const reader = new StoredChunks(database, new BlockCache(0));
  const range = { ...everything, bound: Number.POSITIVE_INFINITY, after: undefined, readings: false, spares: [] };
  const isThere = (seqs: readonly number[]) => {
    const isRead = reader.history({ ...range, device: 1, seqs }) !== undefined;
    assert.equal(reader.moment({ device: 1, seqs, time: record(1).time }) !== undefined, isRead);
    const outcome = reader.contexts([{ ...ofDevice(1), seqs }]).table[3];
    assert.equal(outcome !== contextOutcome.missing, isRead);
    return isRead;
  };
  assert.ok(isThere([1, 2, 3]));
  const spend = (seq: number, stays: readonly number[], sum = rowSum([1, seq], packStays(stays))) =>
    database.prepare("insert or replace into spent values (1, ?, ?, ?)").run(seq, packStays(stays), sum);
  spend(2, [1]);
  assert.deepEqual([[1], [2], [3], [1, 3], [1, 2, 3]].map(isThere), [true, false, true, true, false]);
  // The index was made without a damaged entry, too.
  spend(2, [1], 1);
  assert.ok(isThere([1, 2, 3]));
  database.close();
});

/** A reader of a database whose tail has a row of each of three devices. SQLite's log lacks the last bytes of the second row, as if a part of the disk could not be read. */
function unreadable(context: TestContext): StoredChunks {
  const directory = dataFolder();
  const file = join(directory, "positions.db");
  const database = new DatabaseSync(file);
  context.after(() => {
    database.close();
    removeFolder(directory);
  });
  database.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${tables}`);
  const insert = database.prepare("insert into tail (seq, device, first, last, count, data) values (?, ?, ?, ?, 1, ?)");
  const put = (device: number, extras: string) => {
    const one = record(1, { extras });
    insert.run(device, device, one.time, one.time, packedRecords([one]));
  };
  for (const device of [1, 3]) put(device, "");
  // Too long for the page of the other rows, so the last pages of the log are its own.
  put(2, `,"attributes":{"note":"${"x".repeat(100_000)}"`);
  truncateSync(`${file}-wal`, readFileSync(`${file}-wal`).length - 10_000);
  const reading = new DatabaseSync(file, { readOnly: true });
  context.after(() => reading.close());
  return new StoredChunks(reading, new BlockCache(0));
}

const ofDevice = (device: number) => ({
  device,
  seqs: [device],
  place: placeBefore(record(1).time),
  bound: Number.POSITIVE_INFINITY,
  limit: 1,
  bytes: 1_000_000,
});

test("a part of the disk that can't be read fails the request that needs it, and no other request of the same call", (context) => {
  const reader = unreadable(context);
  const answer = reader.contexts([1, 2, 3].map(ofDevice));
  assert.deepEqual(
    answer.failures.map(({ index, code }) => [index, Number(code) & 0xff]),
    [[1, 10]],
  );
  const outcomes = [0, 1, 2].map((index) => answer.table.subarray(index * 4 + 2, index * 4 + 4));
  const found = Float64Array.of(1, contextOutcome.all);
  assert.deepEqual(outcomes, [found, Float64Array.of(0, 0), found]);
});

test("a history that needs a part of the disk that can't be read fails with the cause, and the next one is read", (context) => {
  const reader = unreadable(context);
  const range = { ...everything, bound: Number.POSITIVE_INFINITY, after: undefined, readings: false, spares: [] };
  const history = (device: number) => reader.history({ ...range, device, seqs: [device] })?.length;
  assert.throws(() => history(2), /disk I\/O error/);
  assert.equal(history(1), 1);
});
