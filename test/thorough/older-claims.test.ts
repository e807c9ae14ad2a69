import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { OpenedStore } from "../../src/store/opened.ts";
import { makeNotice } from "../contract/store/alert-values.ts";
import { makeAccount, makeCommand, makeDevice, now } from "../contract/store/harness.ts";
import { backToPackedRows } from "../support/older-data.ts";
import { plainSqlite } from "../support/plain-sqlite.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { dataFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

/** Opens a store whose data an older program left in the midst of its work, and finds the work again. */
async function takesUp(open: () => Promise<OpenedStore>, exec: (statements: string) => Promise<unknown>) {
  const older = await open();
  const { key: device } = await makeDevice(older, (await makeAccount(older)).key);
  const notice = await makeNotice(older, device);
  assert.equal(await older.notices.claim(notice.key, now, undefined), "claimed");
  const command = await makeCommand(older, device, { state: "sent", sentAt: now, failure: "not known" });
  await older.close();
  await exec(backToPackedRows);

  const store = await open();
  assert.deepEqual(await store.commands.find(device, command.id), command);
  assert.equal(await store.commands.step(command.key, ["ours"], "failed", {}), undefined);
  assert.equal(await store.notices.renew(0, []), 1);
  assert.deepEqual(await store.notices.find(device, notice.id), { ...notice, attempts: 1 });
  assert.equal(await store.notices.claim(notice.key, now, undefined), "claimed");
  const sent = { state: "sent", reason: null, peerId: null, dueAt: 0 } as const;
  assert.equal(await store.notices.finish(notice.key, sent, now), "recorded");
  await store.close();
}

describe("what an older program left unfinished", () => {
  it("is taken up in a data folder", async () => {
    const directory = dataFolder();
    await takesUp(
      () => openStore(directory),
      async (statements) => {
        const { file } = plainSqlite(join(directory, "waybeam.db"));
        file.exec(statements);
        file.close();
      },
    );
  });

  it("is taken up in a PostgreSQL database", { skip: noPostgres }, async () => {
    const server = await PostgresServer.start();
    const url = await server.database();
    await takesUp(
      () => openPostgres(url),
      (statements) => server.ask(new URL(url).pathname.slice(1), statements),
    );
  });
});
