import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Kysely } from "kysely";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { Schema } from "../../src/store/schema.ts";
import { WorkerDialect } from "../../src/store/sqlite/dialect.ts";
import type { ReaderCalls, WriterCalls } from "../../src/store/sqlite/messages.ts";
import { Mutex } from "../../src/store/sqlite/mutex.ts";
import { WorkerLink } from "../../src/store/sqlite/worker-link.ts";
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
  const writer = new WorkerLink<WriterCalls>(worker("writer"), file, silentLog);
  const reader = new WorkerLink<ReaderCalls>(worker("reader"), file, silentLog);
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
