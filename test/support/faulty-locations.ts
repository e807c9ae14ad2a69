import { join } from "node:path";
import type { TestContext } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { Calls } from "../../src/store/locations/calls.ts";
import { ChunkIndex } from "../../src/store/locations/chunk-index.ts";
import { Locations } from "../../src/store/locations/locations.ts";
import { Mutex } from "../../src/store/locations/mutex.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import type { SqlitePackerCalls, SqliteReaderCalls, SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { devicesOf, folder } from "./kept-states.ts";
import { silentLog } from "./silent-log.ts";
import { openStore } from "./store.ts";

/** A worker of the embedded store. */
export const worker = (name: string) => ({
  name,
  file: new URL(`../../src/store/sqlite/${name}.ts`, import.meta.url),
  heapMb: 64,
});

/** A link to a worker of which some calls fail. */
export class FaultyLink<C extends Calls<C>> extends WorkerLink<C> {
  /** The answer of the next call of this name is lost; what it asked for is done. */
  loses: string | undefined;
  /** The next call of this name fails, with `failure`. */
  fails: string | undefined;
  failure = new StoreUnavailable("the worker ended");
  /** Called once, at the next call. */
  heard: (() => void) | undefined;
  /** Every call fails with this error, if there is one. */
  broken: Error | undefined;
  calls = 0;

  override async call<K extends keyof C & string>(
    name: K,
    request: C[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<C[K]["answer"]> {
    this.calls++;
    const { heard } = this;
    this.heard = undefined;
    heard?.();
    if (this.broken !== undefined) throw this.broken;
    if (name === this.fails) {
      this.fails = undefined;
      throw this.failure;
    }
    const answer = await super.call(name, request, transfer);
    if (name !== this.loses) return answer;
    this.loses = undefined;
    throw new StoreUnavailable("the worker did not live to answer");
  }
}

/** Locations of a folder. The test makes calls to their workers fail. */
export async function faulty(context: TestContext, directory: string) {
  const file = join(directory, "waybeam.db");
  const writer = new FaultyLink<SqliteWriterCalls>(worker("writer"), file, silentLog);
  const reader = new FaultyLink<SqliteReaderCalls>(worker("reader"), file, silentLog);
  const packer = new WorkerLink<SqlitePackerCalls>(worker("packer"), file, silentLog);
  const parts = { turns: new Mutex(), index: new ChunkIndex(), refusedBytes: 65_536, crowded: { made() {} } };
  const links = { writer, reader, historyReader: reader, contextReader: reader, packer };
  const locations = new Locations({ ...links, ...parts, log: silentLog, vault: openVault });
  await locations.load();
  context.after(async () => {
    await locations.sealer.close();
    await packer.close(() => packer.call("close", null));
    await reader.close(() => reader.call("close", null));
    await writer.close(() => writer.call("close", null));
  });
  return { locations, writer, reader };
}

/** The same in a new folder, with a number of devices. */
export async function faultyWith(context: TestContext, count: number) {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, count);
  await store.close();
  return { directory, devices, ...(await faulty(context, directory)) };
}
