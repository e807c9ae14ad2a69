import type { DeviceKey } from "../model/device.ts";
import type { AlertEngine, ToldAlert, WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertKey, AlertStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { PositionStore } from "../ports/positions.ts";
import type { FollowedDevice } from "./followed-device.ts";
import type { RefoldReads } from "./refold-turn.ts";

/** Records of one page. */
const pageRecords = 4096;
const pageAlerts = 500;

/** Where it is read, and who judges it. */
export interface RefoldSources {
  readonly store: {
    readonly follow: Pick<FollowStore, "days" | "sumsBefore">;
    readonly positions: Pick<PositionStore, "read">;
    readonly alerts: Pick<AlertStore, "list">;
  };
  readonly engine: Pick<AlertEngine, "review">;
  readonly clock: Clock;
}

/** What a refold reads of a device. */
export function readsOf(
  { store, engine, clock }: RefoldSources,
  device: FollowedDevice,
  registered: WatchedDevice,
  commit: RefoldReads["commit"],
): RefoldReads {
  const { key } = device;
  return {
    days: (ask) => store.follow.days(key, ask),
    sumsBefore: (day) => store.follow.sumsBefore(key, day),
    records: (from, to, after) =>
      store.positions.read(key, {
        ...{ from, to, limit: pageRecords },
        ...(after && { after }),
      }),
    told: async (from) => {
      // What is committed meanwhile may be in both.
      const found = foundFrom(device, from);
      const told = await toldFrom(store.alerts, key, from);
      const ids = new Set(told.map(({ id }) => id));
      return [...told, ...found.filter(({ id }) => !ids.has(id))].sort((one, other) => one.time - other.time);
    },
    review: (standing, start) => engine.review(registered, standing, start, clock.now()),
    commit,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
  };
}

/** Alerts that were found and are not committed yet. */
function foundFrom({ alerts, ended }: FollowedDevice, from: number): readonly ToldAlert[] {
  return alerts
    .filter(({ time }) => time >= from)
    .map((alert) => {
      const end = ended.find(
        (one) => one.withdrawn === undefined && one.ruleKey === alert.ruleKey && one.time >= alert.time,
      );
      const isGone = ended.some(({ withdrawn }) => withdrawn === alert.id);
      const isClosed = alert.phase !== "raised" || isGone || (end !== undefined && !alert.critical);
      return { ...alert, handling: { state: isClosed ? "closed" : "open", endedAt: end?.time ?? null } };
    });
}

async function toldFrom(
  alerts: Pick<AlertStore, "list">,
  device: DeviceKey,
  from: number,
): Promise<readonly ToldAlert[]> {
  const told: ToldAlert[] = [];
  for (let after: AlertKey | undefined; ; ) {
    const page = await alerts.list(device, {
      ...{ from, to: Number.MAX_SAFE_INTEGER, limit: pageAlerts },
      ...(after && { after }),
    });
    told.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageAlerts) return told;
    after = { time: last.time, key: last.key };
  }
}
