import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { followedState } from "../../../src/fold/state.ts";
import type { DeviceKey } from "../../../src/model/device.ts";
import { type DeviceState, firstArrival, neverReported } from "../../../src/model/location.ts";
import type { RetainedDevice, Store } from "../../../src/ports/store.ts";
import { deviceFields, makeAccount, makeDevice, now } from "./harness.ts";
import { batchOf, readAll, record } from "./records.ts";

const timeOf = (seconds: number) => record(seconds).time;

/** Commits three records for each of these begins, and tells from when on positions are kept. */
async function fill(store: Store, device: DeviceKey, begins: readonly number[], keptFrom: number) {
  let state: DeviceState = neverReported;
  for (const begin of begins) {
    const arrival = firstArrival + state.arrivals;
    const records = [0, 1, 2].map((at) => record(begin + at, { arrival: arrival + at }));
    state = followedState(state, records);
    const commit = { device, records, patches: [], state, follows: true as const };
    assert.equal(await store.locations.commit(batchOf(commit)), undefined);
  }
  state = { ...state, version: state.version + 1, keptFrom };
  assert.equal(await store.locations.commit(batchOf({ device, records: [], patches: [], state })), undefined);
  return state;
}

async function deleteAll(store: Store, device: DeviceKey, before: number): Promise<number> {
  let deleted = 0;
  for (let more = true; more; ) {
    const step = await store.locations.deleteOld(device, before);
    deleted += step.positions;
    more = step.more;
  }
  return deleted;
}

/** What retention asks of a store. */
export function oldPositionContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("old positions", () => {
    it("are told as they would be deleted, and deleted; the last before the horizon stay, and so do the state and all behind", async () => {
      const { key } = await makeDevice(store(), (await makeAccount(store())).key);
      const state = await fill(store(), key, [0, 10, 20, 30, 40], timeOf(23));
      const [old, none] = await store().locations.oldPositions([key, 999_999_999], timeOf(31));
      assert.ok(old !== undefined && none?.count === 0);
      // Those of 30 to 32 are not all old.
      assert.deepEqual(old, { count: 6, from: timeOf(0), to: timeOf(12), keptFrom: timeOf(22) + 1 });
      const [before] = await store().locations.oldPositions([key], timeOf(3));
      assert.equal(before?.count, 0);
      assert.equal(await deleteAll(store(), key, old.keptFrom), 6);
      assert.equal(await deleteAll(store(), key, old.keptFrom), 0);
      const read = () => readAll(store(), key);
      const left = await read();
      assert.equal(left.count, 9);
      assert.equal(left.last?.time, timeOf(42));
      assert.deepEqual(
        (await store().locations.context(key, { time: timeOf(23), arrival: 0 }, 1)).before?.time,
        timeOf(22),
      );
      assert.deepEqual(await store().locations.states([key]), [state]);
      await reopen();
      assert.deepEqual(await read(), left);
      assert.deepEqual(await store().locations.states([key]), [state]);
    });

    it("are deleted of one device alone, and of none that is gone", async () => {
      const account = await makeAccount(store());
      const [one, other] = [await makeDevice(store(), account.key), await makeDevice(store(), account.key)];
      for (const { key } of [one, other]) await fill(store(), key, [0, 10, 20], timeOf(13));
      assert.equal(await deleteAll(store(), one.key, timeOf(13)), 3);
      assert.equal((await readAll(store(), other.key)).count, 9);
      await store().devices.remove(other.key);
      assert.equal(await deleteAll(store(), other.key, timeOf(13)), 0);
    });
  });
}

/** How long positions of devices are kept. */
export function positionDaysContract(store: () => Store): void {
  describe("position days", () => {
    it("are those of a device, or else those of its account", async () => {
      const [kept, forever] = [await makeAccount(store()), await makeAccount(store())];
      await store().accounts.replace(kept.key, { ...kept, positionDays: 30 });
      const [asAccount, own] = [
        await makeDevice(store(), kept.key),
        await makeDevice(store(), kept.key, { positionDays: 7 }),
      ];
      const [always, alone] = [
        await makeDevice(store(), forever.key),
        await makeDevice(store(), forever.key, { positionDays: 9 }),
      ];
      const found: RetainedDevice[] = [];
      for (let after = asAccount.key - 1; ; ) {
        const page = await store().devices.retained(after, 2);
        found.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.key;
      }
      assert.deepEqual(found, [
        { key: asAccount.key, days: 30 },
        { key: own.key, days: 7 },
        { key: alone.key, days: 9 },
      ]);
      const days = await Promise.all([asAccount, own, always, alone].map(({ key }) => store().devices.daysOf(key)));
      assert.deepEqual(days, [30, 7, undefined, 9]);
      assert.equal(await store().devices.daysOf(alone.key + 1000), undefined);
      assert.deepEqual(await store().devices.withoutOwnDays(kept.key, 0, 10), [asAccount.key]);
      assert.deepEqual(await store().devices.withoutOwnDays(forever.key, 0, 10), [always.key]);
      assert.deepEqual(await store().devices.withoutOwnDays(forever.key, always.key, 10), []);
      const fields = deviceFields({ id: own.id, positionDays: null });
      const changed = await store().devices.replace(own.key, fields, now);
      assert.ok(typeof changed !== "string" && changed.positionDays === null);
      assert.deepEqual(await store().devices.withoutOwnDays(kept.key, 0, 1), [asAccount.key]);
    });
  });
}
