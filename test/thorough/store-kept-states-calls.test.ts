import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { DeviceCommit } from "../../src/model/commit.ts";
import type { Device } from "../../src/model/device.ts";
import { type DeviceState, neverReported } from "../../src/model/location.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { batchOf, readAll, record } from "../contract/store/records.ts";
import { faulty, faultyWith } from "../support/faulty-locations.ts";
import { crashed, findingsOf, following, next, withoutVersion, written } from "../support/kept-states.ts";
import { openStore } from "../support/store.ts";

/** Commits for a device twice, first by `commit`. The answer to the second commit, which is returned, is lost. */
async function secondLost(
  { locations, writer }: Pick<Awaited<ReturnType<typeof faulty>>, "locations" | "writer">,
  device: Device,
  commit: typeof written,
): Promise<DeviceCommit> {
  const first = commit(device, neverReported);
  await locations.commit(batchOf(first));
  const second = following(device, first.state);
  writer.loses = "append";
  await assert.rejects(locations.commit(batchOf(second)), StoreUnavailable);
  return second;
}

for (const call of ["states", "rows", "waiting"])
  test(`records of a commit that was not answered are in the state though the first look for them fails (${call})`, async (context) => {
    const { devices, locations, writer, reader } = await faultyWith(context, 1);
    const [device = assert.fail()] = devices;
    const second = await secondLost({ locations, writer }, device, following);
    reader.fails = call;
    await assert.rejects(locations.states([device.key]), StoreUnavailable);
    const [found = assert.fail()] = await locations.states([device.key]);
    assert.deepEqual(withoutVersion(found), withoutVersion(second.state));
  });

test("records that are found when all states are written are in the state after a crash", async (context) => {
  const { directory, devices, locations, writer, reader } = await faultyWith(context, 1);
  const [device = assert.fail()] = devices;
  const second = await secondLost({ locations, writer }, device, written);
  reader.fails = "rows";
  await assert.rejects(locations.states([device.key]), StoreUnavailable);
  await locations.close();
  const again = await openStore(crashed(context, directory));
  const [found = assert.fail()] = await again.locations.states([device.key]);
  assert.deepEqual(withoutVersion(found), withoutVersion(second.state));
});

test("a state that can be read again while all are written has its records after a crash", async (context) => {
  const { directory, devices, locations, writer, reader } = await faultyWith(context, 2);
  const [device = assert.fail(), other = assert.fail()] = devices;
  const second = await secondLost({ locations, writer }, device, written);
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

test("while a disk takes nothing, states are not tried one by one", async (context) => {
  const { devices, locations, writer } = await faultyWith(context, 40);
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
      const { devices, ...begun } = await faultyWith(context, 4);
      let { directory } = begun;
      let world: Awaited<ReturnType<typeof faulty>> = begun;
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

/** A commit of one kind, with so many records. */
function commitOf(what: string, device: Device, before: DeviceState, count: number): DeviceCommit {
  const { arrivals, version } = before;
  if (what === "follows") return following(device, before, count);
  if (what === "writes" || (what === "late" && arrivals === 0)) {
    const commit = written(device, before, count);
    return { ...commit, state: { ...commit.state, rules: `[${version}]` } };
  }
  if (what === "ticks")
    return {
      device: device.key,
      records: [],
      patches: [],
      state: { ...before, version: version + 1, rules: `[${version}]` },
    };
  // Late ones lie half a second behind others; those after them get other totals.
  const late = next(before, count).map((one, index) => record(index + 0.5, { arrival: one.arrival }));
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
