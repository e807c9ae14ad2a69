import assert from "node:assert/strict";
import { test } from "node:test";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { silentLog } from "../../../test/support/silent-log.ts";
import { openSqliteStore } from "../sqlite/open.ts";

test("a move makes no tables where a service has made them, and a service opens none that a move has made", async () => {
  const [used, moving] = [dataFolder(), dataFolder()];
  const options = { log: silentLog, pid: process.pid };
  await (await openSqliteStore({ directory: used, ...options })).close();
  await assert.rejects(openSqliteStore({ directory: used, ...options, forMove: true }), { name: "StoreNotEmpty" });
  await (await openSqliteStore({ directory: used, ...options })).close();
  await (await openSqliteStore({ directory: moving, ...options, forMove: true })).close();
  await assert.rejects(openSqliteStore({ directory: moving, ...options }), { name: "StoreHalfMoved" });
  for (const folder of [used, moving]) removeFolder(folder);
});
