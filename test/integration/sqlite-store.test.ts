import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { StoreTooNew } from "../../src/store/migrations/migrations.ts";
import { packBatch, unpackBatch } from "../../src/store/records/batch.ts";
import { writeRecord } from "../../src/store/records/record-codec.ts";
import { ByteSink } from "../../src/store/records/sink.ts";
import { DataFolderInUse } from "../../src/store/sqlite/lock.ts";
import type { SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, readAll, record } from "../contract/store/records.ts";
import { silentLog } from "../support/silent-log.ts";
import { noSmallDisk, smallDisk } from "../support/small-disk.ts";
import { openStore as open } from "../support/store.ts";

const unavailable = (error: unknown) => error instanceof StoreUnavailable;

/** What only this engine can be brought to: its locks, its disk, its process. */
describe("SQLite store", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "waybeam-sqlite-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("is for one process at a time, and free again when that is killed, with all that was answered", async () => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, "../support/store-holder.ts"), directory]);
    let said = "";
    const printed = Promise.withResolvers<void>();
    holder.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.split("\n").length > 20) printed.resolve();
    });
    // All that it printed has been read.
    const ended = new Promise((resolve) => holder.once("close", resolve));
    await printed.promise;
    await assert.rejects(
      open(directory),
      (error) =>
        error instanceof DataFolderInUse && error.pid === holder.pid && error.message.includes(`${holder.pid}`),
    );
    holder.kill("SIGKILL");
    await ended;
    const store = await open(directory);
    const [device = 0, ...versions] = said.split("\n").filter(Boolean).map(Number);
    const { count } = await readAll(store, device);
    const [state] = await store.locations.states([device]);
    assert.equal(state?.version, count);
    // Its last commit may be on disk without an answer.
    assert.ok(count === versions.length || count === versions.length + 1, `${count} of ${versions.length}`);
    await store.close();
  });

  it("is refused to a second store of the same process, until the first is closed", async () => {
    const store = await open(directory);
    await assert.rejects(open(directory), DataFolderInUse);
    await store.close();
    await assert.rejects(store.check(), unavailable);
    await (await open(directory)).close();
  });

  it("refuses data of a newer program", async () => {
    await (await open(directory)).close();
    const database = new DatabaseSync(join(directory, "waybeam.db"));
    database.exec("insert into migration values (999, 'from the future')");
    database.close();
    await assert.rejects(open(directory), StoreTooNew);
  });

  it("waits for the disk with each commit: its writer's own connection says so", async () => {
    await (await open(directory)).close();
    const file = new URL("../../src/store/sqlite/writer.ts", import.meta.url);
    const writer = new WorkerLink<SqliteWriterCalls>(
      { name: "writer", file, heapMb: 64 },
      join(directory, "waybeam.db"),
      silentLog,
    );
    const pragma = async (name: string) =>
      Object.values((await writer.call("sql", { sql: `pragma ${name}`, parameters: [] })).rows[0] ?? {})[0];
    try {
      // 2: FULL. In WAL mode anything less loses what was acknowledged when the power fails.
      assert.equal(await pragma("synchronous"), 2);
      assert.equal(await pragma("journal_mode"), "wal");
      // Nor does a commit change it.
      await writer.call("check", null);
      assert.equal(await pragma("synchronous"), 2);
    } finally {
      await writer.close(() => writer.call("close", null));
    }
  });

  it("is unavailable while another locks the database, still reads, and goes on by itself", async () => {
    const store = await open(directory);
    const account = await makeAccount(store);
    const device = await makeDevice(store, account.key);
    await store.locations.commit(batchOf(append(device.key, 1, [record(1)])));
    const other = new DatabaseSync(join(directory, "waybeam.db"));
    other.exec("begin immediate");
    const commit = batchOf(append(device.key, 2, [record(2)]));
    await assert.rejects(store.locations.commit(commit), unavailable);
    await assert.rejects(store.check(), unavailable);
    await assert.rejects(
      store.accounts.setting("key", () => "value"),
      unavailable,
    );
    await assert.rejects(makeDevice(store, account.key), unavailable);
    await assert.rejects(store.devices.remove(device.key), unavailable);
    assert.equal((await readAll(store, device.key)).count, 1);
    assert.equal((await store.locations.states([device.key]))[0]?.version, 1);
    other.exec("rollback");
    other.close();
    await store.check();
    assert.equal(await store.locations.commit(commit), undefined);
    assert.equal((await readAll(store, device.key)).count, 2);
    await makeDevice(store, account.key);
    await store.close();
  });

  it("takes no change into a folder that was moved away, in a transaction or not", async () => {
    const store = await open(directory);
    const account = await makeAccount(store);
    await rename(directory, `${directory}-moved`);
    try {
      await assert.rejects(
        store.accounts.setting("moved", () => "value"),
        unavailable,
      );
      await assert.rejects(makeDevice(store, account.key), unavailable);
    } finally {
      await rename(`${directory}-moved`, directory);
    }
    assert.equal(await store.accounts.findSetting("moved"), undefined);
    await makeDevice(store, account.key);
    await store.close();
  });

  it("answers no change as made whose folder is moved away while it is written", async (context) => {
    await (await open(directory)).close();
    const file = new URL("../../src/store/sqlite/writer.ts", import.meta.url);
    const path = join(directory, "waybeam.db");
    const writer = new WorkerLink<SqliteWriterCalls>({ name: "writer", file, heapMb: 64 }, path, silentLog);
    context.after(() => writer.close(() => writer.call("close", null)));
    await writer.call("check", null);
    // Takes a second, in which the folder is moved. Where it has not begun by then, it is refused as well.
    const slow = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1.5e6) select sum(i) from n";
    const request = { sql: `insert into setting (name, value) values ('slow', (${slow}))`, parameters: [] };
    const changed = writer.call("sql", request).then(
      () => "made",
      (error) => unavailable(error) && "unavailable",
    );
    await sleep(100);
    await rename(directory, `${directory}-moved`);
    const answer = await changed;
    await rename(`${directory}-moved`, directory);
    assert.equal(answer, "unavailable");
  });

  it("finds out what became of a commit whose answer was lost", async () => {
    const store = await open(directory);
    const device = await makeDevice(store, (await makeAccount(store)).key);
    await store.locations.commit(batchOf(append(device.key, 1, [record(1)])));
    const other = new DatabaseSync(join(directory, "waybeam.db"));
    other.exec("begin immediate");
    const lost = batchOf(append(device.key, 2, [record(2)]));
    await assert.rejects(store.locations.commit(lost), unavailable);
    // As if it had reached the disk before the failure.
    const sink = new ByteSink(1000);
    packBatch(sink, lost.devices, 2, () => false);
    unpackBatch(sink.take(), {
      device(key, { version, asOf, bytes }) {
        const update = other.prepare(
          "update device_state set version = ?, as_of = ?, data = ?, crc = null where device = ?",
        );
        update.run(version, asOf, bytes ?? assert.fail(), key);
      },
      shifts: () => assert.fail("there are none"),
      chunk: (key, first, last, count, bytes) =>
        other
          .prepare("insert into tail (seq, device, first, last, count, data) values (2, ?, ?, ?, ?, ?)")
          .run(key, first, last, count, bytes),
    });
    other.exec("commit");
    other.close();
    assert.deepEqual(await store.locations.commit(lost), { conflicts: [device.key] });
    assert.equal((await readAll(store, device.key)).count, 2);
    assert.equal(await store.locations.commit(batchOf(append(device.key, 3, [record(3)]))), undefined);
    assert.equal((await readAll(store, device.key)).count, 3);
    await store.close();
  });

  it("deletes a removed device's records in the background, also after a restart", async () => {
    let store = await open(directory);
    const account = await makeAccount(store);
    const gone = await makeDevice(store, account.key);
    const kept = await makeDevice(store, account.key);
    for (let version = 1; version <= 30; version++) {
      const records = Array.from({ length: 256 * 4 }, (_, index) => record(version * 2000 + index));
      await store.locations.commit(
        batchOf(append(gone.key, version, records), append(kept.key, version, [record(version)])),
      );
    }
    await store.seal(gone.key);
    await store.close();
    const database = new DatabaseSync(join(directory, "waybeam.db"));
    const rows = (sql: string) => Number(database.prepare(sql).get()?.n);
    const stored = (table: string) => rows(`select count(*) as n from ${table} where device = ${gone.key}`);
    assert.ok(stored("block") > 0);
    // More than one slice of rows, which no sealing makes fewer before the device is removed.
    const insert = database.prepare("insert into tail (device, first, last, count, data) values (?, ?, ?, 1, ?)");
    database.exec("begin");
    for (let second = 100_000; second < 105_000; second++) {
      const sink = new ByteSink(200);
      const one = record(second);
      writeRecord(sink, one);
      insert.run(gone.key, one.time, one.time, sink.cut());
    }
    database.exec("commit");
    store = await open(directory);
    await store.devices.remove(gone.key);
    await store.close();
    const left = stored("tail");
    assert.ok(left > 0 && left <= 4000, `${left} rows are left when it is closed at once`);
    assert.ok(stored("block") > 0);
    store = await open(directory);
    while (rows("select count(*) as n from purge") > 0) await sleep(10);
    assert.equal(stored("tail") + stored("block"), 0);
    assert.equal(rows("select count(*) as n from block_data where seq not in (select seq from block)"), 0);
    database.close();
    assert.equal((await readAll(store, kept.key)).count, 30);
    await store.close();
  });
});

/** Elsewhere the locked database stands for all that makes a store unavailable. */
const small = smallDisk(12);

describe("SQLite store on a full disk", { skip: small === undefined && noSmallDisk }, () => {
  let store: Store | undefined;
  before(async () => {
    store = await open(join(small ?? "", "data"));
  });
  after(() => store?.close());

  it("answers unavailable, keeps what it answered for, and goes on by itself", async () => {
    assert.ok(store);
    const device = await makeDevice(store, (await makeAccount(store)).key);
    const filler = join(small ?? "", "filler");
    // More than the log's 4 MB, which may have to be moved into the database first when there is room again.
    writeFileSync(filler, Buffer.alloc(6_000_000));
    let version = 1;
    const commit = () => {
      const records = Array.from({ length: 500 }, (_, index) => record(version * 500 + index));
      return store?.locations.commit(batchOf(append(device.key, version, records)));
    };
    await assert.rejects(async () => {
      for (; version < 1000; version++) assert.equal(await commit(), undefined);
    }, unavailable);
    await assert.rejects(async () => commit(), unavailable);
    const full = await readAll(store, device.key);
    assert.equal(full.count, (version - 1) * 500);
    rmSync(filler);
    await store.check();
    assert.equal(await commit(), undefined);
    assert.equal((await readAll(store, device.key)).count, version * 500);
  });
});
