import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { followedState } from "../../src/fold/state.ts";
import type { DeviceCommit } from "../../src/model/commit.ts";
import type { Device } from "../../src/model/device.ts";
import { type DeviceState, firstArrival, neverReported } from "../../src/model/location.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { ChunkIndex } from "../../src/store/sqlite/chunk-index.ts";
import { SqliteLocations } from "../../src/store/sqlite/locations.ts";
import type { Calls, PackerCalls, ReaderCalls, WriterCalls } from "../../src/store/sqlite/messages.ts";
import { Mutex } from "../../src/store/sqlite/mutex.ts";
import { WorkerLink } from "../../src/store/sqlite/worker-link.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { batchOf, readAll, record } from "../contract/store/records.ts";
import { backToBlocks } from "../support/older-data.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const pageSize = 8192;

function folder(context: TestContext): string {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  return directory;
}

async function devicesOf(store: Store, count: number): Promise<readonly Device[]> {
  const account = await makeAccount(store);
  return Promise.all(Array.from({ length: count }, () => makeDevice(store, account.key)));
}

/** What is on the disk of a store that is open: as after a crash. */
function crashed(context: TestContext, directory: string): string {
  const copy = folder(context);
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  return copy;
}

function following(device: Device, before: DeviceState, extras?: string): DeviceCommit {
  const { arrivals } = before;
  const records = [record(arrivals, { arrival: firstArrival + arrivals, ...(extras !== undefined && { extras }) })];
  return { device: device.key, records, patches: [], state: followedState(before, records), follows: true };
}

/** A commit that writes the state. */
function written(device: Device, before: DeviceState, extras?: string): DeviceCommit {
  const { follows: _, ...commit } = following(device, before, extras);
  return commit;
}

/** What `waybeam check` finds wrong. */
async function findingsOf(directory: string) {
  const work = { signal: new AbortController().signal, progress: () => undefined };
  const { findings } = await check({ directory, secretFile: undefined, pid: process.pid }, work);
  return findings;
}

const withoutVersion = ({ version: _, ...state }: DeviceState) => state;

/** Texts so long that a state's row goes on in pages of its own. */
const longExtras = `,"attributes":{"text":"${"Q".repeat(5 * pageSize)}"`;

/** Damages the pages that hold little but this character. */
function damagePages(file: string, mark: string): void {
  const bytes = readFileSync(file);
  let pages = 0;
  for (let at = 0; at < bytes.length; at += pageSize) {
    const page = bytes.subarray(at, at + pageSize);
    if (page.reduce((count, byte) => count + (byte === mark.charCodeAt(0) ? 1 : 0), 0) < pageSize - 100) continue;
    bytes.fill(0xff, at, at + pageSize);
    pages++;
  }
  assert.ok(pages > 0);
  writeFileSync(file, bytes);
}

/** Moves the log of a crashed folder into its database, so that its pages can be changed. */
function moveLog(directory: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec("pragma user_version = 2");
  database.close();
}

for (const what of ["row", "page"] as const)
  test(`a damaged ${what} of one device's state does not keep a store from opening after a crash`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const [damaged = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
    const first = written(damaged, neverReported, longExtras);
    await store.locations.commit(batchOf(first));
    await store.seal(damaged.key);
    const second = following(damaged, first.state);
    const others = following(other, neverReported);
    await store.locations.commit(batchOf(second, others));
    const copy = crashed(context, directory);
    moveLog(copy);
    if (what === "page") damagePages(join(copy, "waybeam.db"), "Q");
    else {
      const database = new DatabaseSync(join(copy, "waybeam.db"));
      database.prepare("update device_state set data = x'01020304' where device = ?").run(damaged.key);
      database.close();
    }
    const again = await openStore(copy);
    assert.deepEqual(await again.locations.states([other.key]), [others.state]);
    await assert.rejects(again.locations.states([damaged.key]));
    const next = following(other, others.state);
    assert.equal(await again.locations.commit(batchOf(next)), undefined);
    // Nothing is built on a state that lacks records.
    const third = following(damaged, first.state);
    await assert.rejects(async () => {
      const conflict = await again.locations.commit(batchOf(third));
      if (conflict !== undefined) throw new Error("conflict");
    });
    assert.deepEqual(await again.locations.states([other.key]), [next.state]);
  });

test("row numbers of an earlier run are not given again: a state of that run would seem to include the new rows", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), gone = assert.fail()] = await devicesOf(store, 2);
  const first = following(device, neverReported);
  await store.locations.commit(batchOf(first));
  let state: DeviceState = neverReported;
  for (let round = 0; round < 5; round++) {
    const commit = following(gone, state);
    await store.locations.commit(batchOf(commit));
    ({ state } = commit);
  }
  // A state that is written without records, as time alone changes it.
  const ticked = { ...first.state, version: first.state.version + 1, rules: "[]" };
  const tick: DeviceCommit = { device: device.key, records: [], patches: [], state: ticked };
  await store.locations.commit(batchOf(tick));
  await store.devices.remove(gone.key);
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  while (database.prepare("select 1 from purge").get() !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 10));
  database.close();
  for (const end of ["crashes", "closes"] as const) {
    const copy = end === "crashes" ? crashed(context, directory) : directory;
    if (end === "closes") await store.close();
    const again = await openStore(copy);
    const second = following(device, ticked);
    assert.equal(await again.locations.commit(batchOf(second)), undefined);
    const last = await openStore(crashed(context, copy));
    const [found = assert.fail()] = await last.locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(second.state), end);
  }
});

const worker = (name: string) => ({
  name,
  file: new URL(`../../src/store/sqlite/${name}.ts`, import.meta.url),
  heapMb: 64,
});

/** A link to a worker of which some calls fail. */
class FaultyLink<C extends Calls<C>> extends WorkerLink<C> {
  /** The answer of the next call of this name is lost; what it asked for is done. */
  loses: string | undefined;
  /** The next call of this name fails. */
  fails: string | undefined;
  /** And so. */
  failure = new StoreUnavailable("the worker ended");
  /** Told of the next call. */
  heard: (() => void) | undefined;
  /** Every call fails so, until this is taken away. */
  broken: Error | undefined;
  calls = 0;

  override async call<K extends keyof C & string>(
    ...given: Parameters<WorkerLink<C>["call"]>
  ): Promise<C[K]["answer"]> {
    this.calls++;
    const { heard } = this;
    this.heard = undefined;
    heard?.();
    if (this.broken !== undefined) throw this.broken;
    if (given[0] === this.fails) {
      this.fails = undefined;
      throw this.failure;
    }
    const answer = await super.call(...given);
    if (given[0] !== this.loses) return answer;
    this.loses = undefined;
    throw new StoreUnavailable("the worker did not live to answer");
  }
}

/** Locations of which some calls to workers fail. */
async function faulty(context: TestContext, directory: string) {
  const file = join(directory, "waybeam.db");
  const writer = new FaultyLink<WriterCalls>(worker("writer"), file, silentLog);
  const reader = new FaultyLink<ReaderCalls>(worker("reader"), file, silentLog);
  const packer = new WorkerLink<PackerCalls>(worker("packer"), file, silentLog);
  const parts = { turns: new Mutex(), index: new ChunkIndex(), refusedBytes: 65_536, crowded: { made() {} } };
  const links = { writer, reader, historyReader: reader, packer };
  const locations = new SqliteLocations({ ...links, ...parts, log: silentLog, vault: openVault });
  await locations.load();
  context.after(async () => {
    await locations.sealer.close();
    await packer.close(() => packer.call("close", null));
    await reader.close(() => reader.call("close", null));
    await writer.close(() => writer.call("close", null));
  });
  return { locations, writer, reader };
}

for (const call of ["states", "rows", "sql"])
  test(`records of a commit that was not answered are in the state though the first look for them fails (${call})`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const [device = assert.fail()] = await devicesOf(store, 1);
    await store.close();
    const { locations, writer, reader } = await faulty(context, directory);
    const first = following(device, neverReported);
    await locations.commit(batchOf(first));
    const second = following(device, first.state);
    writer.loses = "append";
    await assert.rejects(locations.commit(batchOf(second)), StoreUnavailable);
    reader.fails = call;
    await assert.rejects(locations.states([device.key]), StoreUnavailable);
    const [found = assert.fail()] = await locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(second.state));
  });

test("records that are found when all states are written are in the state after a crash", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  await store.close();
  const { locations, writer, reader } = await faulty(context, directory);
  const first = written(device, neverReported);
  await locations.commit(batchOf(first));
  const second = following(device, first.state);
  writer.loses = "append";
  await assert.rejects(locations.commit(batchOf(second)), StoreUnavailable);
  reader.fails = "rows";
  await assert.rejects(locations.states([device.key]), StoreUnavailable);
  await locations.close();
  const again = await openStore(crashed(context, directory));
  const [found = assert.fail()] = await again.locations.states([device.key]);
  assert.deepEqual(withoutVersion(found), withoutVersion(second.state));
});

test("a state that can be read again while all are written has its records after a crash", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
  await store.close();
  const { locations, writer, reader } = await faulty(context, directory);
  const first = written(device, neverReported);
  await locations.commit(batchOf(first));
  const second = following(device, first.state);
  writer.loses = "append";
  await assert.rejects(locations.commit(batchOf(second)), StoreUnavailable);
  // The look for the commit finds its row, and can't read the state of the device.
  reader.fails = "rows";
  reader.failure = new StoreUnavailable("disk I/O error", undefined, "damaged");
  await locations.commit(batchOf(following(other, neverReported)));
  let told: Promise<readonly DeviceState[]> | undefined;
  writer.heard = () => {
    told = locations.states([device.key]);
  };
  await locations.close();
  const again = await openStore(crashed(context, directory));
  for (const states of [await told, await again.locations.states([device.key])])
    assert.deepEqual(states?.map(withoutVersion), [withoutVersion(second.state)]);
});

test("a damaged number of the row up to which states are written loses no records", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const first = following(device, neverReported);
  await store.locations.commit(batchOf(first));
  for (const damaged of ["q", "-7", String(2 ** 52)]) {
    const copy = crashed(context, directory);
    setStatesAsOf(copy, damaged);
    assert.deepEqual(await findingsOf(copy), []);
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(first.state));
    await again.close();
  }
});

test("and makes no record of an older version count twice", async (context) => {
  const directory = folder(context);
  let store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  const first = written(device, neverReported);
  await store.locations.commit(batchOf(first));
  await store.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  backToBlocks(database);
  database.close();
  store = await openStore(directory);
  await store.close();
  setStatesAsOf(directory, "q");
  store = await openStore(directory);
  assert.deepEqual(await store.locations.states([device.key]), [first.state]);
});

/** Writes the number of the row up to which states are written, into a folder that nobody has open. */
function setStatesAsOf(directory: string, value: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.prepare("update setting set value = ? where name = 'states'").run(value);
  database.exec("pragma user_version = 2");
  database.close();
}

test("a state that can't be written is made again after a crash, whatever became of the others", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail(), other = assert.fail()] = await devicesOf(store, 2);
  const [first, others] = [written(device, neverReported), following(other, neverReported)];
  await store.locations.commit(batchOf(first, others));
  const second = following(device, first.state);
  await store.locations.commit(batchOf(second));
  // As where the pages that hold the old state can be read and not be given back.
  const file = join(directory, "waybeam.db");
  const database = new DatabaseSync(file);
  database.exec(`create trigger stuck before update on device_state when old.device = ${device.key}
    begin select raise(fail, 'stuck'); end`);
  database.close();
  await store.close();
  const again = new DatabaseSync(file);
  again.exec("drop trigger stuck");
  again.close();
  const last = await openStore(directory);
  const found = await last.locations.states([device.key, other.key]);
  assert.deepEqual(found.map(withoutVersion), [second.state, others.state].map(withoutVersion));
  assert.equal((await readAll(last, device.key)).count, 2);
});

test("a state that can't be written for long is made again from rows that are far apart", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 300);
  const [stuck = assert.fail()] = devices;
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(`create trigger stuck before update on device_state when old.device = ${stuck.key}
    begin select raise(fail, 'stuck'); end`);
  database.close();
  const states = new Map(devices.map((device) => [device, neverReported]));
  for (let round = 0; round < 80; round++) {
    const commits = devices.map((device) => following(device, states.get(device) ?? assert.fail()));
    assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
    for (const [index, device] of devices.entries()) states.set(device, commits[index]?.state ?? assert.fail());
  }
  const again = await openStore(crashed(context, directory));
  const found = await again.locations.states(devices.map(({ key }) => key));
  assert.deepEqual(found.map(withoutVersion), [...states.values()].map(withoutVersion));
});

for (const column of ["last", "count"])
  test(`a damaged number in a row of the tail (${column}) does not spoil the state for good`, async (context) => {
    const directory = folder(context);
    const store = await openStore(directory);
    const [device = assert.fail()] = await devicesOf(store, 1);
    const first = following(device, neverReported);
    const second = following(device, first.state);
    for (const commit of [first, second]) await store.locations.commit(batchOf(commit));
    const copy = crashed(context, directory);
    const database = new DatabaseSync(join(copy, "waybeam.db"));
    database.prepare(`update tail set ${column} = 8000000000000000 where seq = 2`).run();
    database.exec("pragma user_version = 2");
    database.close();
    const again = await openStore(copy);
    const [found = assert.fail()] = await again.locations.states([device.key]);
    assert.ok(found.time <= second.state.time);
    assert.ok(found.arrivals <= second.state.arrivals + 1000);
    const third = following(device, found);
    assert.equal(await again.locations.commit(batchOf(third)), undefined);
  });

test("while a disk takes nothing, states are not tried one by one", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 40);
  await store.close();
  const { locations, writer } = await faulty(context, directory);
  const commits = devices.map((device) => following(device, neverReported));
  await locations.commit(batchOf(...commits));
  writer.broken = new StoreUnavailable("disk I/O error", undefined, "damaged");
  writer.calls = 0;
  await locations.close();
  writer.broken = undefined;
  assert.ok(writer.calls < 5, `${writer.calls} calls`);
  const found = await locations.states(devices.map(({ key }) => key));
  assert.deepEqual(
    found,
    commits.map(({ state }) => state),
  );
});

/** The next step of a run. `fault`: what goes wrong in it. */
const steps = fc.array(
  fc.record({
    device: fc.nat(3),
    count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(300)),
    what: fc.constantFrom(
      "follows",
      "follows",
      "follows",
      "follows",
      "writes",
      "ticks",
      "late",
      "seals",
      "dies",
      "crashes",
      "closes",
    ),
    fault: fc.constantFrom(
      "none",
      "none",
      "loses append",
      "fails append",
      "loses swap",
      "fails states",
      "fails rows",
      "fails scan",
      "fails sql",
    ),
  }),
  { minLength: 5, maxLength: 30 },
);

test("whatever answers are lost and calls fail, a state has all records that are stored, once", {
  timeout: 240_000,
}, async (context) => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      let directory = folder(context);
      const store = await openStore(directory);
      const devices = await devicesOf(store, 4);
      await store.close();
      let world = await faulty(context, directory);
      /** What a state may be: two after a commit that was not answered. */
      const may = new Map<Device, readonly DeviceState[]>(devices.map((device) => [device, [neverReported]]));
      const again = async <T>(work: () => Promise<T>): Promise<T> => {
        for (let tries = 0; ; tries++)
          try {
            return await work();
          } catch (error) {
            if (!(error instanceof StoreUnavailable) || tries === 5) throw error;
          }
      };
      const known = async (device: Device): Promise<DeviceState> => {
        const [state = assert.fail()] = await again(() => world.locations.states([device.key]));
        const same = may.get(device)?.some((one) => isDeepStrictEqual(withoutVersion(one), withoutVersion(state)));
        if (!same) assert.deepEqual(withoutVersion(state), withoutVersion(may.get(device)?.at(-1) ?? assert.fail()));
        may.set(device, [state]);
        return state;
      };
      for (const { device: index, count, what, fault } of all) {
        const device = devices[index] ?? assert.fail();
        const state = await known(device);
        const [kind, call] = fault.split(" ");
        const link = call === "append" || call === "swap" ? world.writer : world.reader;
        if (kind === "loses") link.loses = call;
        if (kind === "fails") link.fails = call;
        if (what === "crashes" || what === "closes") {
          if (what === "closes") await world.locations.close();
          directory = crashed(context, directory);
          world = await faulty(context, directory);
          for (const one of devices) await known(one);
          assert.deepEqual(await findingsOf(directory), []);
        } else if (what === "dies") await world.writer.terminate();
        else if (what === "seals") await world.locations.sealer.now(device.key);
        else {
          const commit = commitOf(what, device, state, count);
          may.set(device, [state, commit.state]);
          try {
            // Where a kept state was written and the answer lost, the next commit is a conflict, once.
            if ((await world.locations.commit(batchOf(commit))) !== undefined)
              assert.equal(await world.locations.commit(batchOf(commit)), undefined);
            may.set(device, [commit.state]);
          } catch (error) {
            if (!(error instanceof StoreUnavailable)) throw error;
          }
        }
      }
      for (const one of devices) {
        const { arrivals } = await known(one);
        const stored = { locations: world.locations } as unknown as Store;
        assert.equal((await again(() => readAll(stored, one.key))).count, arrivals);
      }
    }),
    { numRuns: 8 },
  );
});

function commitOf(what: string, device: Device, before: DeviceState, count: number): DeviceCommit {
  const { arrivals, version } = before;
  const records = Array.from({ length: count }, (_, index) =>
    record(arrivals + index, { arrival: firstArrival + arrivals + index }),
  );
  if (what === "follows")
    return { device: device.key, records, patches: [], state: followedState(before, records), follows: true };
  if (what === "writes" || (what === "late" && arrivals === 0))
    return {
      device: device.key,
      records,
      patches: [],
      state: { ...followedState(before, records), rules: `[${version}]` },
    };
  if (what === "ticks")
    return {
      device: device.key,
      records: [],
      patches: [],
      state: { ...before, version: version + 1, rules: `[${version}]` },
    };
  // Late ones lie half a second behind others; those after them get other totals.
  const late = records.map((one, index) => record(index + 0.5, { arrival: one.arrival }));
  const totals = { ...before.totals, odometerMm: before.totals.odometerMm + 5 };
  const shift = { afterTime: late.at(-1)?.time ?? 0, afterArrival: 0, odometerMm: 5, sensorMs: [0, 0, 0, 0] as const };
  return {
    device: device.key,
    records: late,
    patches: [],
    shifts: [shift],
    state: { ...before, version: version + 1, arrivals: arrivals + count, totals },
  };
}
