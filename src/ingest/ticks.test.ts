import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { newAlert, newNotice } from "../../test/contract/store/alert-values.ts";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import type { Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Log } from "../ports/log.ts";
import { type LocationStore, StoreUnavailable } from "../ports/store.ts";
import { States } from "./states.ts";
import { Ticks } from "./ticks.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function deviceOf(key: number): WatchedDevice {
  return { key, accountKey: 1, id: `device-${key}`, name: "", expires: null, odometerStart: 0 };
}

/** Something is found of every device. */
const watch: Watch = {
  full: false,
  mostBesideLate: 1000,
  observe: () => undefined,
  late: () => {},
  tick() {},
  outcome: () => ({ rules: "[]", alerts: [], notices: [] }),
};

/** Ticks over a store that commits what `fails` does not object to; resolves once `commits` devices are committed. */
function world(commits: number, fails: (keys: readonly number[]) => Error | undefined, down = () => false) {
  const committed: number[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly number[]>();
  const states = (keys: readonly number[]): Promise<readonly DeviceState[]> =>
    Promise.resolve(keys.map(() => neverReported));
  const locations: Pick<LocationStore, "commit" | "states"> = {
    states,
    async commit({ devices }) {
      const keys = devices.map(({ device }) => device);
      const error = fails(keys);
      if (error !== undefined) throw error;
      committed.push(...keys);
      if (committed.length === commits) resolve(committed);
      return undefined;
    },
  };
  const ticks = new Ticks({
    locations,
    store: { check: async () => (down() ? Promise.reject(new StoreUnavailable("down")) : undefined) },
    states: new States(locations),
    engine: { ...noAlertEngine, watch: () => watch },
    bus: { publish() {}, subscribe: () => () => {}, close: async () => {} },
    clock: { now: () => 0, monotonic: () => 0 },
    log: quiet,
  });
  return { ticks, done: promise };
}

async function turns(count: number): Promise<void> {
  for (let each = 0; each < count; each++) await turn();
}

test("a device whose look fails holds up no other", async () => {
  const { ticks, done } = world(4, (keys) => (keys.includes(2) ? new Error("bad") : undefined));
  ticks.due([1, 2, 3, 4, 5].map(deviceOf));
  assert.deepEqual(await done, [1, 3, 4, 5]);
  await ticks.stop();
});

test("while the store is down all are tried again together", async () => {
  let tries = 0;
  const { ticks, done } = world(
    3,
    (keys) => {
      assert.equal(keys.length, 3);
      return tries++ === 0 ? new StoreUnavailable("down") : undefined;
    },
    () => true,
  );
  ticks.due([1, 2, 3].map(deviceOf));
  assert.deepEqual(await done, [1, 2, 3]);
  await ticks.stop();
});

test("a device of which the store can't be read holds up no other, and is left alone for a while", async () => {
  const { ticks, done } = world(4, (keys) => {
    return keys.includes(2) ? new StoreUnavailable("a damaged page", undefined, "damaged") : undefined;
  });
  ticks.due([1, 2, 3, 4].map(deviceOf));
  ticks.due([2, 5].map(deviceOf));
  assert.deepEqual((await done).toSorted(), [1, 3, 4, 5]);
  await ticks.stop();
});

test("others are looked at after the engine named none but a device that is left alone", async () => {
  const { ticks, done } = world(2, (keys) => (keys.includes(2) ? new Error("bad") : undefined));
  ticks.due([1, 2].map(deviceOf));
  await turns(20);
  ticks.due([deviceOf(2)]);
  ticks.due([deviceOf(3)]);
  assert.deepEqual(await Promise.race([done, turns(20)]), [1, 3]);
  await ticks.stop();
});

test("notices of a commit whose answer was lost are sent at once, and what it stored is not found again", async (context) => {
  const versions = new Map<number, number>();
  let commits = 0;
  const locations: Pick<LocationStore, "commit" | "states"> = {
    states: async (keys) => keys.map((key) => ({ ...neverReported, version: versions.get(key) ?? 0 })),
    async commit({ devices }) {
      commits++;
      for (const { device, state } of devices) versions.set(device, state.version);
      throw new StoreUnavailable("the writer died");
    },
  };
  const found: Watch = {
    ...watch,
    outcome: () => ({ rules: "[]", alerts: [], notices: [newNotice(newAlert(1, 1))] }),
  };
  const published: string[] = [];
  const ticks = new Ticks({
    locations,
    store: { check: async () => undefined },
    states: new States(locations),
    engine: { ...noAlertEngine, watch: (_device, { version }) => (version === 0 ? found : undefined) },
    bus: { publish: ({ type }) => void published.push(type), subscribe: () => () => {}, close: async () => {} },
    clock: { now: () => 0, monotonic: () => 0 },
    log: quiet,
  });
  context.after(() => ticks.stop());
  ticks.due([1, 2].map(deviceOf));
  await turns(20);
  assert.equal(commits, 1);
  assert.deepEqual(published, ["committed", "noticesQueued"]);
});
