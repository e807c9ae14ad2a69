import {
  type Anchor,
  arrivalOf,
  byPlace,
  type DeviceState,
  type LocationRecord,
  type Totals,
  withTotals,
} from "../model/location.ts";

/** Memory of a state without its texts, bytes. */
const baseBytes = 1000;

/** Memory of a state with its texts, bytes (an estimate). */
export function bytesOfState({ last, rules }: DeviceState): number {
  const texts = (last?.extras.length ?? 0) + (last?.alerts?.length ?? 0);
  return baseBytes + 2 * texts + (rules?.length ?? 0);
}

/** What new records change in a device's state. */
export interface StateChange {
  /** The number of new records. */
  readonly records: number;
  /** Event time of the device's newest record. */
  readonly time: number;
  /** Totals as of that record. */
  readonly totals: Totals;
  /** The newest record, if a new one is. */
  readonly newest: LocationRecord | undefined;
  /** The newest of the new records that came with a position of their own. */
  readonly located: LocationRecord | undefined;
}

/**
 * The state after `before`. Its `last` is at the last credible position: a newest record that has none keeps its time and readings.
 */
export function changedState(before: DeviceState, change: StateChange): DeviceState {
  const { records, time, totals, newest, located } = change;
  const last = totals.anchor === undefined ? newestOf(before.last, located) : (newest ?? before.last);
  const receivedAt = newest === undefined || newest.time < time ? arrivalOf(before) : newest.receivedAt;
  return {
    version: before.version + 1,
    time,
    arrivals: before.arrivals + records,
    totals,
    ...(before.rules !== undefined && { rules: before.rules }),
    ...(before.keptFrom !== undefined && { keptFrom: before.keptFrom }),
    ...(last && { last: atLastPosition(last, totals) }),
    ...(receivedAt !== undefined && receivedAt !== last?.receivedAt && { receivedAt }),
  };
}

/** The state after one more commit, whose records are newer than all before. The state follows from the one before and the records alone. */
export function followedState(before: DeviceState, records: readonly LocationRecord[]): DeviceState {
  const newest = records.at(-1);
  return changedState(before, {
    records: records.length,
    time: newest?.time ?? before.time,
    totals: newest?.totals ?? before.totals,
    newest,
    located: records.findLast(({ unlocated }) => !unlocated),
  });
}

/** The newest position, where none was ever credible. */
function newestOf(one: LocationRecord | undefined, other: LocationRecord | undefined): LocationRecord | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return byPlace(one, other) > 0 ? one : other;
}

function atLastPosition(record: LocationRecord, totals: Totals): LocationRecord {
  const { anchor } = totals;
  if (anchor === undefined || record.unlocated || isAt(record, anchor)) return withTotals(record, totals);
  // The speed and course of a position that is not the one shown would mislead.
  const { speed: _speed, course: _course, ...rest } = record;
  return {
    ...rest,
    latitude: anchor.latitude,
    longitude: anchor.longitude,
    positionTime: anchor.time,
    totals,
  };
}

function isAt(record: LocationRecord, { time, latitude, longitude }: Anchor): boolean {
  return record.valid && record.time === time && record.latitude === latitude && record.longitude === longitude;
}
