import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { contentHashOf } from "../../src/model/content-hash.ts";
import type { DeviceKey } from "../../src/model/device.ts";
import type { LocationRecord } from "../../src/model/location.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { addSpentFunction } from "../../src/store/sqlite/spent-table.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, record } from "../contract/store/records.ts";
import { folderOf } from "./service.ts";
import { silentLog } from "./silent-log.ts";
import { openStore, secretsOf } from "./store.ts";
import { commandLine } from "./waybeam.ts";

const hashed = (made: LocationRecord) => ({ ...made, hash: contentHashOf(made) });

/** A stopped data folder with devices that have a number of positions each. */
export async function filled(
  context: TestContext,
  devices = 3,
  positions = 2000,
): Promise<{ directory: string; ids: string[] }> {
  const directory = folderOf(context);
  const store = await openStore(directory);
  const account = await makeAccount(store);
  const ids: string[] = [];
  for (let index = 0; index < devices; index++) {
    const { key, id } = await makeDevice(store, account.key);
    ids.push(id);
    for (let at = 0, version = 1; at < positions; at += 100, version++) {
      const records = Array.from({ length: Math.min(100, positions - at) }, (_, each) => hashed(record(at + each)));
      const commit = append(key, version, records);
      await store.locations.commit(batchOf({ ...commit, state: { ...commit.state, arrivals: at + records.length } }));
    }
  }
  await store.close();
  return { directory, ids };
}

/** A backup of a data folder, made by the command. */
export async function backedUp(context: TestContext, directory: string): Promise<string> {
  const target = join(folderOf(context), "backup");
  const { code, err } = await commandLine(directory).waybeam(["backup", target]);
  assert.equal(code, 0, err);
  return target;
}

/** A stopped data folder whose positions are sealed but for the last ones. `grow` adds positions of its first device, and seals them. */
export async function filledWithBlocks(context: TestContext, devices = 3) {
  const directory = folderOf(context);
  const open = () => openStore(directory, silentLog, secretsOf(directory));
  const store = await open();
  const account = await makeAccount(store);
  const keys = await Promise.all(
    Array.from({ length: devices }, async () => (await makeDevice(store, account.key)).key),
  );
  for (const key of keys) await report(store, key, 12_000);
  await store.close();
  return {
    directory,
    async grow(positions: number, changes: Partial<LocationRecord> = {}): Promise<void> {
      const again = await open();
      await report(again, keys[0] ?? 0, positions, changes);
      await again.close();
    },
  };
}

/** Stores more positions of a device, and seals them. */
async function report(store: OpenedStore, key: DeviceKey, positions: number, changes: Partial<LocationRecord> = {}) {
  const [before] = await store.locations.states([key]);
  const start = before?.arrivals ?? 0;
  for (let at = start, version = before?.version ?? 0; at < start + positions; at += 500) {
    const records = Array.from({ length: Math.min(500, start + positions - at) }, (_, each) =>
      hashed({ ...record(at + each), ...changes }),
    );
    const commit = append(key, ++version, records);
    await store.locations.commit(batchOf({ ...commit, state: { ...commit.state, arrivals: at + records.length } }));
    // Each time, so that the same positions always make the same blocks.
    await store.seal(key);
  }
}

/** All blocks of a stopped data folder by row number, and how many rows of the tail are in none of them. */
export function readBlocks(directory: string) {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    const rows = database.prepare("select block.*, data from block join block_data using (seq) order by seq").all();
    const blocks = new Map(
      rows.map(({ seq, data, crc: _, ...numbers }) => {
        assert.ok(data instanceof Uint8Array);
        return [Number(seq), { device: Number(numbers.device), numbers, data: Buffer.from(data) }];
      }),
    );
    addSpentFunction(database);
    const tail = database.prepare("select count(*) as n from tail where not is_spent(device, seq)").get();
    return { blocks, tail: Number(tail?.n) };
  } finally {
    database.close();
  }
}
