import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceCommit } from "../../src/model/commit.ts";
import { placeBefore } from "../../src/model/location.ts";
import type { Log } from "../../src/ports/log.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { record } from "../contract/store/records.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

const count = 16_384;

test("new totals for 16,384 stored records of each of eight devices cross to the writer within its heap", {
  timeout: 120_000,
}, async (context) => {
  const directory = dataFolder();
  const complaints: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (_, message) => complaints.push(message),
    warn: (_, message) => complaints.push(message),
  };
  const store = await openSqliteStore({ directory, log, pid: process.pid });
  context.after(async () => {
    await store.close();
    removeFolder(directory);
  });
  const records = Array.from({ length: count }, (_, index) => record(index + 1));
  const keys: number[] = [];
  const account = await makeAccount(store);
  for (let index = 0; index < 8; index++) {
    const device = await makeDevice(store, account.key);
    keys.push(device.key);
  }
  const [last] = records.slice(-1);
  assert.ok(last);
  const state = (version: number) => ({
    version,
    time: last.time,
    arrivals: records.length,
    totals: last.totals,
    last,
  });
  for (const device of keys)
    await store.locations.commit({ devices: [{ device, records, patches: [], state: state(1) }], refused: [] });
  const patches = records.map(({ time, hash, totals }) => ({
    time,
    hash,
    totals: { ...totals, odometerMm: totals.odometerMm + 5, movedAt: time - 1 },
  }));
  const devices = keys.map((device): DeviceCommit => ({ device, records: [], patches, state: state(2) }));
  assert.equal(await store.locations.commit({ devices, refused: [] }), undefined);
  assert.deepEqual(complaints, []);
  const { before } = await store.locations.context(keys[7] ?? 0, placeBefore(last.time), 1);
  assert.deepEqual(before?.totals, patches.at(-2)?.totals);
});
