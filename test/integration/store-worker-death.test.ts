import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Kysely } from "kysely";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { Calls } from "../../src/store/locations/calls.ts";
import { ChunkIndex } from "../../src/store/locations/chunk-index.ts";
import { Locations } from "../../src/store/locations/locations.ts";
import { Mutex } from "../../src/store/locations/mutex.ts";
import type { Schema } from "../../src/store/schema.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { WorkerDialect } from "../../src/store/sqlite/dialect.ts";
import type { SqlitePackerCalls, SqliteReaderCalls, SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const worker = (name: string) => ({
  name,
  file: new URL(`../../src/store/sqlite/${name}.ts`, import.meta.url),
  heapMb: 64,
});

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

/** A link to a worker that loses answers. */
class LossyLink<C extends Calls<C>> extends WorkerLink<C> {
  /** The next answer of this call is lost; what it asked for is done. */
  loses: string | undefined;

  override async call<K extends keyof C & string>(
    ...given: Parameters<WorkerLink<C>["call"]>
  ): Promise<C[K]["answer"]> {
    const answer = await super.call(...given);
    if (given[0] !== this.loses) return answer;
    this.loses = undefined;
    throw new StoreUnavailable("the worker did not live to answer");
  }
}

test("refused reports of a commit that is on disk though its answer was lost are there once", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory);
  const account = await makeAccount(store);
  const device = await makeDevice(store, account.key);
  await store.close();
  const file = join(directory, "waybeam.db");
  const writer = new LossyLink<SqliteWriterCalls>(worker("writer"), file, silentLog);
  const reader = new WorkerLink<SqliteReaderCalls>(worker("reader"), file, silentLog);
  const parts = {
    turns: new Mutex(),
    index: new ChunkIndex(),
    refusedBytes: 65_536,
    crowded: { made() {} },
    log: silentLog,
    vault: openVault,
  };
  const packer = new WorkerLink<SqlitePackerCalls>(worker("packer"), file, silentLog);
  const locations = new Locations({ writer, reader, historyReader: reader, packer, ...parts });
  await locations.load();
  context.after(async () => {
    await locations.sealer.close();
    await packer.close(() => packer.call("close", null));
    await reader.close(() => reader.call("close", null));
    await writer.close(() => writer.call("close", null));
    removeFolder(directory);
  });
  const refused = ["one", "two"].map((report) => ({
    device: device.key,
    receivedAt: 5,
    time: 9,
    cause: "future" as const,
    report,
  }));
  writer.loses = "append";
  await assert.rejects(locations.commit({ devices: [], refused }), StoreUnavailable);
  await locations.commit({ devices: [], refused });
  // One that says the same and was not in that commit is another one.
  await locations.commit({ devices: [], refused: [{ ...refused[0], report: "one" } as (typeof refused)[0]] });
  const { rows } = await reader.call("sql", { sql: "select report from refused order by seq", parameters: [] });
  assert.deepEqual(
    rows.map(({ report }) => report),
    ["one", "two", "one"],
  );
  const room = await reader.call("sql", { sql: "select bytes from refused_room", parameters: [] });
  assert.equal(room.rows[0]?.bytes, 9);
});
