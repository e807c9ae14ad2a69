import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Kysely } from "kysely";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { Schema } from "../../src/store/schema.ts";
import { WorkerDialect } from "../../src/store/sqlite/dialect.ts";
import type { SqliteReaderCalls, SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { Mutex } from "../../src/store/sqlite/workers/mutex.ts";
import { WorkerLink } from "../../src/store/sqlite/workers/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { plainSqlite } from "../support/plain-sqlite.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

function worker(name: string) {
  return { name, file: new URL(`../../src/store/sqlite/${name}.ts`, import.meta.url), heapMb: 64 };
}

test("a transaction whose worker dies is lost as a whole: none of its later statements are done alone", async (context) => {
  const directory = dataFolder();
  await (await openStore(directory)).close();
  const file = join(directory, "waybeam.db");
  const writer = new WorkerLink<SqliteWriterCalls>(worker("writer"), file, silentLog);
  const reader = new WorkerLink<SqliteReaderCalls>(worker("reader"), file, silentLog);
  const database = new Kysely<Schema>({ dialect: new WorkerDialect({ writer, reader, turns: new Mutex() }) });
  context.after(async () => {
    await reader.close(() => reader.call("close", null));
    await writer.close(() => writer.call("close", null));
    removeFolder(directory);
  });
  const setting = (name: string) => ({ name, value: "1" });
  await assert.rejects(
    database.transaction().execute(async (transaction) => {
      await transaction.insertInto("setting").values(setting("first")).execute();
      await writer.terminate();
      await transaction.insertInto("setting").values(setting("second")).execute();
    }),
    StoreUnavailable,
  );
  const names = await database.selectFrom("setting").select("name").where("name", "in", ["first", "second"]).execute();
  assert.deepEqual(names, []);
  await database
    .transaction()
    .execute((transaction) => transaction.insertInto("setting").values(setting("third")).execute());
});

test("refused reports that are on disk though their answer was lost are there once", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory);
  context.after(async () => {
    context.mock.restoreAll();
    await store.close();
    removeFolder(directory);
  });
  const { key: device } = await makeDevice(store, (await makeAccount(store)).key);
  const refused = ["one", "two"].map((report) => ({
    device,
    receivedAt: 5,
    time: 9,
    cause: "future" as const,
    report,
  }));
  const { call } = WorkerLink.prototype;
  let isLost = true;
  const losing = async function (this: WorkerLink<never>, ...given: Parameters<typeof call>) {
    const answer = await Reflect.apply(call, this, given);
    if (String(given[0]) !== "commit" || !isLost) return answer;
    isLost = false;
    throw new StoreUnavailable("the answer is lost");
  };
  context.mock.method(WorkerLink.prototype, "call", losing as typeof call);
  await assert.rejects(store.refused.add(refused), StoreUnavailable);
  await store.refused.add(refused);
  // One that says the same and was not among these is another one.
  await store.refused.add(refused.slice(0, 1));
  const { reports } = await store.refused.page(device, 9);
  assert.deepEqual(
    reports.map(({ report }) => report),
    ["one", "two", "one"],
  );
  const { rows } = plainSqlite(join(directory, "waybeam.db"));
  const rooms = await rows.selectFrom("refused_room").select("bytes").execute();
  assert.deepEqual(
    rooms.map(({ bytes }) => bytes),
    [9],
  );
  await rows.destroy();
});
