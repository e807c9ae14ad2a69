import { plus } from "../fold/days.ts";
import type { DeviceHead } from "../model/follow.ts";
import { type Anchor, type LocationRecord, noTotals, type Totals, withTotals } from "../model/location.ts";
import { alertMembers } from "../model/location-json.ts";
import { alarmsIn } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { Standing } from "../model/standing.ts";

/** What of a head tells how its device stands. */
export interface StandingHead {
  readonly newest?: DeviceHead["newest"] | undefined;
  readonly today?: DeviceHead["today"] | undefined;
  readonly sumsBefore: DeviceHead["sumsBefore"];
  readonly rules?: string | undefined;
}

/** How a device stands by its head. */
export function standingOf(head: StandingHead): Standing {
  const { newest, rules } = head;
  return {
    time: newest?.time ?? 0,
    totals: totalsOf(head),
    ...(newest && { receivedAt: newest.receivedAt }),
    ...(rules !== undefined && { rules }),
  };
}

/** The totals as of the newest record: sums over all days. */
export function totalsOf({ today, sumsBefore }: Pick<StandingHead, "today" | "sumsBefore">): Totals {
  return plus(today?.end.totals ?? noTotals, sumsBefore);
}

/**
 * What `lastLocation` answers: the newest record, at the last credible position; the newest one with a position where
 * none was ever credible. Undefined before the first position ever.
 */
export function lastOf(head: DeviceHead): LocationRecord | undefined {
  const { newest, located, found } = head;
  const totals = totalsOf(head);
  const said = totals.anchor === undefined ? located : newest;
  if (said === undefined) return undefined;
  const alerts = alertMembers(alarmsIn(said.extras), said === newest ? found : undefined);
  return atLastPosition({ ...said, totals, ...(alerts !== undefined && { alerts }) }, totals);
}

function atLastPosition(record: LocationRecord, totals: Totals): LocationRecord {
  const { anchor } = totals;
  if (anchor === undefined || record.unlocated || isAt(record, anchor)) return withTotals(record, totals);
  // The speed and course of a position that is not the one shown would mislead.
  const { speed: _speed, course: _course, ...rest } = record;
  return { ...rest, latitude: anchor.latitude, longitude: anchor.longitude, positionTime: anchor.time, totals };
}

function isAt({ valid, time, latitude, longitude }: SaidRecord, anchor: Anchor): boolean {
  return valid && time === anchor.time && latitude === anchor.latitude && longitude === anchor.longitude;
}
