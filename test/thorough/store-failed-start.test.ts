import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { neverReported } from "../../src/model/location.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { batchOf } from "../contract/store/records.ts";
import { crashed, devicesOf, folder, written } from "../support/kept-states.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

test("a start that fails ends what it began: it went on sealing, and the process did not end for as long as there were devices to seal", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 3);
  let states = devices.map(() => neverReported);
  for (let at = 0; at < 250; at++) {
    const commits = devices.map((device, index) => written(device, states[index] ?? neverReported));
    assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
    states = commits.map(({ state }) => state);
  }
  // Each has a block of records in its tail now, and is sealed by the next start.
  const commits = devices.map((device, index) => written(device, states[index] ?? neverReported, 300));
  assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
  const copy = crashed(context, directory);
  // In the place of the file that a start writes last, as a full disk would refuse it.
  rmSync(join(copy, "waybeam.db-open"), { force: true });
  mkdirSync(join(copy, "waybeam.db-open"));
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text?: string) => void warned.push(text ?? "") };
  await assert.rejects(openStore(copy, log), DataFolderUnusable);
  warned.length = 0;
  await pause(1500);
  assert.deepEqual(warned, []);
});
