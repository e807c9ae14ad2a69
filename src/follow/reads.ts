import type { DeviceKey } from "../model/device.ts";
import type { ToldAlert, WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertKey } from "../ports/alert-store.ts";
import type { FollowerDeps } from "./follower.ts";
import type { RefoldReads } from "./refold-turn.ts";

/** Records of one page: a page is folded in one turn of the event loop. */
const pageRecords = 2000;
const pageAlerts = 500;

/** What a refold reads of a device. */
export function readsOf(
  { store, engine, clock }: Pick<FollowerDeps, "store" | "engine" | "clock">,
  device: DeviceKey,
  registered: WatchedDevice,
): RefoldReads {
  return {
    days: (ask) => store.follow.days(device, ask),
    sumsBefore: (day) => store.follow.sumsBefore(device, day),
    records: (from, after) =>
      store.positions.read(device, {
        ...{ from, to: Number.MAX_SAFE_INTEGER, limit: pageRecords },
        ...(after && { after }),
      }),
    told: (from) => toldFrom(store.alerts, device, from),
    review: (standing, start) => engine.review(registered, standing, start, clock.now()),
    now: () => clock.now(),
  };
}

async function toldFrom(
  alerts: FollowerDeps["store"]["alerts"],
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
