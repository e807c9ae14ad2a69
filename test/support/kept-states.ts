import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { followedState } from "../../src/fold/state.ts";
import type { DeviceCommit } from "../../src/model/commit.ts";
import type { Device } from "../../src/model/device.ts";
import { type DeviceState, firstArrival, type LocationRecord } from "../../src/model/location.ts";
import type { Store } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { record } from "../contract/store/records.ts";
import { dataFolder, removeFolder } from "./service.ts";

/** A data folder that goes with its test. */
export function folder(context: TestContext): string {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  return directory;
}

export async function devicesOf(store: Store, count: number): Promise<readonly Device[]> {
  const account = await makeAccount(store);
  return Promise.all(Array.from({ length: count }, () => makeDevice(store, account.key)));
}

/** Copies what a store that is open has on disk, as a crash leaves it. */
export function crashed(context: TestContext, directory: string): string {
  const copy = folder(context);
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  return copy;
}

/** The next records of a device. */
export function next(
  { arrivals }: DeviceState,
  count: number,
  changes: Partial<LocationRecord> = {},
): LocationRecord[] {
  return Array.from({ length: count }, (_, index) =>
    record(arrivals + index, { arrival: firstArrival + arrivals + index, ...changes }),
  );
}

/** A commit whose state a store need not write at once. */
export function following(
  device: Device,
  before: DeviceState,
  count = 1,
  changes?: Partial<LocationRecord>,
): DeviceCommit {
  const records = next(before, count, changes);
  return { device: device.key, records, patches: [], state: followedState(before, records), follows: true };
}

/** A commit that writes the state. */
export function written(...given: Parameters<typeof following>): DeviceCommit {
  const { follows: _, ...commit } = following(...given);
  return commit;
}

/** What `waybeam check` finds wrong. */
export async function findingsOf(directory: string) {
  const work = { signal: new AbortController().signal, progress: () => undefined };
  const { findings } = await check({ directory, secretFile: undefined, pid: process.pid }, work);
  return findings;
}

/** A state without its version, which a start may number otherwise. */
export const withoutVersion = ({ version: _, ...state }: DeviceState) => state;

/** Writes the number of the row up to which states are written, into a folder that nobody has open. */
export function setStatesAsOf(directory: string, value: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.prepare("update setting set value = ? where name = 'states'").run(value);
  database.exec("pragma user_version = 2");
  database.close();
}
