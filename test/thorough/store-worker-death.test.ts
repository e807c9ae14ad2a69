import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Kysely } from "kysely";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { Mutex } from "../../src/store/locations/mutex.ts";
import type { Schema } from "../../src/store/schema.ts";
import { WorkerDialect } from "../../src/store/sqlite/dialect.ts";
import type { SqliteReaderCalls, SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { faultyWith, worker } from "../support/faulty-locations.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

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

test("refused reports of a commit that is on disk though its answer was lost are there once", async (context) => {
  const { devices, locations, writer, reader } = await faultyWith(context, 1);
  const [device = assert.fail()] = devices;
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
