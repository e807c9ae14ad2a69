import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { StoreTooNew } from "../../src/store/migrations/migrations.ts";
import { DataFolderInUse } from "../../src/store/sqlite/lock.ts";
import type { SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { WorkerLink } from "../../src/store/sqlite/workers/worker-link.ts";
import { everything, readAll, said } from "../contract/positions/said.ts";
import { emptyHead } from "../contract/store/followed.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
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
    let printed = "";
    const enough = Promise.withResolvers<void>();
    holder.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.split("\n").length > 20) enough.resolve();
    });
    // All that it printed has been read.
    const ended = new Promise((resolve) => holder.once("close", resolve));
    await enough.promise;
    await assert.rejects(
      open(directory),
      (error) =>
        error instanceof DataFolderInUse && error.pid === holder.pid && error.message.includes(`${holder.pid}`),
    );
    holder.kill("SIGKILL");
    await ended;
    const store = await open(directory);
    const [device = 0, ...answered] = printed.split("\n").filter(Boolean).map(Number);
    const { records } = await readAll(store.positions, device);
    // Its last append may be on disk without an answer.
    const more = records.length - answered.length;
    assert.ok(more === 0 || more === 1, `${records.length} of ${answered.length}`);
    await store.close();
  });

  it("is refused to a second store of the same process, until the first is closed", async () => {
    const store = await open(directory);
    await assert.rejects(open(directory), DataFolderInUse);
    await store.close();
    await assert.rejects(store.check(), unavailable);
    await (await open(directory)).close();
  });

  it("keeps each database where a link leads to, readable by its owner only", async (context) => {
    const disk = await mkdtemp(join(tmpdir(), "waybeam-disk-"));
    context.after(() => rm(disk, { recursive: true }));
    for (const name of ["waybeam.db", "positions.db"]) symlinkSync(join(disk, name), join(directory, name));
    const store = await open(directory);
    await store.positions.append([{ device: 1, records: [said(1)] }]);
    for (const name of ["waybeam.db", "positions.db", "positions.db-wal"])
      assert.equal(statSync(join(disk, name)).mode & 0o777, 0o600, name);
    await store.close();
    const again = await open(directory);
    assert.deepEqual((await readAll(again.positions, 1)).records, [said(1)]);
    await again.close();
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

  it("is unavailable while another locks one of its files, still reads, and goes on by itself", async () => {
    const store = await open(directory);
    const account = await makeAccount(store);
    const { key: device } = await makeDevice(store, account.key);
    const append = (second: number) => store.positions.append([{ device, records: [said(second)] }]);
    const commit = () => store.follow.commit([{ device, head: emptyHead, days: [] }]);
    await append(1);
    await commit();
    const locked = (name: string) => {
      const other = new DatabaseSync(join(directory, name));
      other.exec("begin immediate");
      return () => {
        other.exec("rollback");
        other.close();
      };
    };
    const unlockPositions = locked("positions.db");
    await assert.rejects(append(2), unavailable);
    await assert.rejects(store.check(), unavailable);
    await commit();
    assert.deepEqual((await readAll(store.positions, device)).records, [said(1)]);
    unlockPositions();
    const unlockRows = locked("waybeam.db");
    await assert.rejects(commit(), unavailable);
    await assert.rejects(store.check(), unavailable);
    await assert.rejects(
      store.accounts.setting("key", () => "value"),
      unavailable,
    );
    await assert.rejects(makeDevice(store, account.key), unavailable);
    await assert.rejects(store.devices.remove(device), unavailable);
    assert.deepEqual(await store.follow.heads([device]), [emptyHead]);
    await append(2);
    unlockRows();
    await store.check();
    await append(3);
    await commit();
    assert.deepEqual((await readAll(store.positions, device)).records, [said(1), said(2), said(3)]);
    await makeDevice(store, account.key);
    await store.close();
  });

  it("keeps its locks on its files, so that no other program deletes their logs", {
    skip: !existsSync("/proc/locks") && "only Linux lists the locks of files",
  }, async () => {
    const store = await open(directory);
    const { key: device } = await makeDevice(store, (await makeAccount(store)).key);
    await store.positions.append([{ device, records: [said(1)] }]);
    const locks = readFileSync("/proc/locks", "utf8").split("\n");
    for (const name of ["waybeam.db", "positions.db"]) {
      const { ino } = statSync(join(directory, name));
      assert.ok(
        locks.some((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)),
        locks.join("\n"),
      );
    }
    await store.close();
  });

  it("refuses a folder in which one of its files is missing, and makes none in its place", async () => {
    await (await open(directory)).close();
    for (const name of ["positions.db", "waybeam.db"]) {
      await rename(join(directory, name), join(directory, "elsewhere"));
      await assert.rejects(open(directory), new RegExp(`${name} is missing, though .* is there`));
      assert.ok(!existsSync(join(directory, name)));
      await rename(join(directory, "elsewhere"), join(directory, name));
    }
    await (await open(directory)).close();
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
      await assert.rejects(store.positions.append([{ device: 1, records: [said(1)] }]), unavailable);
    } finally {
      await rename(`${directory}-moved`, directory);
    }
    assert.equal(await store.accounts.findSetting("moved"), undefined);
    assert.deepEqual((await store.positions.read(1, { ...everything, limit: 5 })).records, []);
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
});

/** Elsewhere the locked database stands for all that makes a store unavailable. */
const small = smallDisk(24);

describe("SQLite store on a full disk", { skip: small === undefined && noSmallDisk }, () => {
  let store: Store | undefined;
  before(async () => {
    store = await open(join(small ?? "", "data"));
  });
  after(() => store?.close());

  it("answers unavailable, keeps what it answered for, and goes on by itself", async () => {
    assert.ok(store);
    const { key: device } = await makeDevice(store, (await makeAccount(store)).key);
    const { positions, follow } = store;
    const filler = join(small ?? "", "filler");
    // More than the logs' 4 MB each, which may have to be moved into the databases first when there is room again.
    writeFileSync(filler, Buffer.alloc(12_000_000));
    let appended = 0;
    const append = async () => {
      const records = Array.from({ length: 500 }, (_, index) => said(appended + index));
      await positions.append([{ device, records }]);
      appended += 500;
    };
    await assert.rejects(async () => {
      while (appended < 500_000) await append();
    }, unavailable);
    await assert.rejects(append, unavailable);
    let rules = "";
    const commit = () => follow.commit([{ device, head: { ...emptyHead, rules }, days: [] }]);
    await assert.rejects(async () => {
      for (let round = 0; round < 100_000; round++) {
        rules = `${round} ${randomBytes(2000).toString("hex")}`;
        await commit();
      }
    }, unavailable);
    const [before] = await follow.heads([device]);
    assert.ok(before?.rules !== rules);
    assert.equal((await readAll(positions, device)).records.length, appended);
    await assert.rejects(store.check(), unavailable);
    rmSync(filler);
    await store.check();
    await append();
    await commit();
    assert.equal((await readAll(positions, device)).records.length, appended);
    assert.deepEqual(await follow.heads([device]), [{ ...emptyHead, rules }]);
  });
});
