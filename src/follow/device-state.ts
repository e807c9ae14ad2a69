import { followedState } from "../fold/state.ts";
import { type DeviceState, firstArrival, type LocationRecord, neverReported, type Totals } from "../model/location.ts";
import type { SaidRecord } from "../model/said.ts";
import { totalsOf } from "./days.ts";
import type { Followed } from "./device-follow.ts";

/** What is known of a device now: what its days add up to, and where it was last. */
export function stateOf({
  days,
  newest,
  located,
}: Followed): Pick<DeviceState, "time" | "totals" | "last" | "receivedAt"> {
  if (newest === undefined) return neverReported;
  const totals = totalsOf(days);
  const records = located === undefined || located === newest ? [newest] : [located, newest];
  const {
    version: _version,
    arrivals: _arrivals,
    ...state
  } = followedState(
    neverReported,
    records.map((record) => withTotals(record, totals)),
  );
  return state;
}

function withTotals({ key, ...record }: SaidRecord, totals: Totals): LocationRecord {
  return { ...record, hash: key, arrival: firstArrival, totals };
}
