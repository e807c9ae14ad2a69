import type { TestContext } from "node:test";
import type { FollowerDeps } from "../../src/follow/deps.ts";
import { Follower } from "../../src/follow/follower.ts";
import type { DeviceKey } from "../../src/model/device.ts";
import { systemClock } from "../../src/observe/index.ts";
import type { AlertEngine } from "../../src/ports/alert-engine.ts";
import type { FreshRecord } from "../../src/ports/follow.ts";
import type { Unfollowed } from "../../src/ports/positions.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { Alone } from "../../src/store/sqlite/alone.ts";
import { createMemoryBus } from "./bus.ts";
import { MemoryFollow } from "./follow-memory.ts";
import { noAlertEngine } from "./no-alert-engine.ts";
import { device } from "./records.ts";
import { silentLog } from "./silent-log.ts";

const [one, other] = [device({ key: 1, id: "a" }), device({ key: 2, id: "b" })];
/** The devices of the world, with the keys 1 and 2. */
export const [first, second] = [
  { ...one, fuelTables: undefined },
  { ...other, fuelTables: undefined },
];

async function* nothing(): AsyncGenerator<Unfollowed, void, undefined> {}

/** A follower over stores in memory. `stored`: what reading finds. */
export function followerWorld(
  context: TestContext,
  changes: Partial<AlertEngine> = {},
  {
    stored = new Map<DeviceKey, FreshRecord[]>(),
    follow = new MemoryFollow(),
    unfollowed = nothing,
  }: {
    readonly stored?: Map<DeviceKey, FreshRecord[]>;
    readonly follow?: MemoryFollow;
    readonly unfollowed?: () => AsyncGenerator<Unfollowed, void, undefined>;
  } = {},
) {
  const failing = new Set<DeviceKey>();
  const gone = new Set<DeviceKey>();
  const reads: { gate: Promise<void> | undefined; count: number } = { gate: undefined, count: 0 };
  const positions: FollowerDeps["store"]["positions"] = {
    append: async () => 0,
    async read(key, { from, to }) {
      reads.count++;
      if (failing.has(key)) throw new StoreUnavailable("a damaged page", undefined, "damaged");
      const records = (stored.get(key) ?? []).filter(({ time }) => time >= from && time <= to);
      await reads.gate;
      return { records: records.toSorted((left, right) => left.time - right.time), unreadable: [] };
    },
    readEach: (spans) => Promise.all(spans.map((span) => positions.read(span.device, { ...span, limit: 1000 }))),
    followed() {},
    unfollowed,
    pending: async (keys) => keys.map(() => undefined),
    async left() {},
    async deleteBefore(key, moment) {
      stored.set(
        key,
        (stored.get(key) ?? []).filter(({ time }) => time >= moment),
      );
    },
  };
  const devices = {
    findByKey: async (key: DeviceKey) => [one, other].find((each) => each.key === key && !gone.has(key)),
  };
  const bus = createMemoryBus();
  const store = { follow, positions, devices, alerts: { list: async () => [] }, processes: new Alone() };
  const follower = new Follower({
    ...{ store, clock: systemClock, log: silentLog, mostLagBytes: 1e9 },
    bus,
    engine: { ...noAlertEngine, ...changes },
  });
  context.after(() => follower.stop());
  const timeOf = async (key: DeviceKey) => (await follower.head(key))?.newest?.time;
  return { follower, stored, failing, gone, reads, follow, bus, timeOf };
}
