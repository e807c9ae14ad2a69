import type { SaidRecord } from "./said.ts";

/**
 * The sums that a device's history gives, as of one record: a fold over its records in the order of event time,
 * so they do not depend on the order in which the records arrived.
 */
export interface Totals {
  /**
   * Great-circle sums between credible fixes, whole millimetres: sums of integers are exact, in whatever order they are
   * made.
   */
  readonly odometerMm: number;
  /** Milliseconds that input 1 to 4 was active. */
  readonly sensorMs: readonly [number, number, number, number];
  /** Event time of the last record in which the device moved; of its first record where it never has. */
  readonly movedAt: number;
  /**
   * Last known states of inputs 1 to 4: bit n-1 of `known` says that input n was ever reported, of `active` that it is
   * on.
   */
  readonly inputsKnown: number;
  readonly inputsActive: number;
  /** Last credible position and its event time; absent before the first one. */
  readonly anchor?: Anchor;
  /**
   * The last position, where it is out of reach of the anchor: the next one decides whether it was credible. Absent
   * where there is no doubt.
   */
  readonly doubted?: Anchor;
  /** The way since the mileage was last added to; absent where it reaches up to the anchor. */
  readonly uncounted?: Uncounted;
  /** The device is on its way, so that shorter legs count. */
  readonly underway?: true;
}

/** A way that is not in the mileage yet: it may be the noise of a parked receiver. */
export interface Uncounted {
  readonly from: Anchor;
  /** Along the fixes, whole millimetres. */
  readonly lengthMm: number;
}

/** A position and its event time. */
export interface Anchor {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * What a tracker said of one moment, with what follows from it. Made when somebody reads it; only what was said is
 * stored.
 */
export interface LocationRecord extends SaidRecord {
  /**
   * For a record that is shown at the position of an earlier one: when that was taken. So a record that came without a
   * position is shown at the one that `totals.anchor` names; where there is none yet, it has latitude and longitude 0,
   * which mean nothing: then it is no location, and only readings show it.
   */
  readonly positionTime?: number;
  /**
   * The Location's alert and warning fields as JSON members, with a leading comma; absent where there are none: see
   * `alertMembers`.
   */
  readonly alerts?: string;
  /** Sums over all of the history up to this record. */
  readonly totals: Totals;
}

/** A record with other totals, and at the position that they give it where it came without one. */
export function withTotals(record: LocationRecord, totals: Totals): LocationRecord {
  if (!record.unlocated) return record.totals === totals ? record : { ...record, totals };
  const { positionTime: _before, ...rest } = record;
  const { anchor } = totals;
  const { latitude, longitude } = anchor ?? { latitude: 0, longitude: 0 };
  return { ...rest, latitude, longitude, ...(anchor && { positionTime: anchor.time }), totals };
}

/** Totals of a device without any record. */
export const noTotals: Totals = Object.freeze({
  odometerMm: 0,
  sensorMs: Object.freeze([0, 0, 0, 0] as const),
  movedAt: 0,
  inputsKnown: 0,
  inputsActive: 0,
});

/** Sums that are added to totals. */
export type TotalsSums = Pick<Totals, "odometerMm" | "sensorMs">;

/** Totals with sums added. */
export function shiftedTotals(totals: Totals, sums: TotalsSums): Totals {
  const [first, second, third, fourth] = totals.sensorMs;
  const [add1, add2, add3, add4] = sums.sensorMs;
  return {
    ...totals,
    odometerMm: totals.odometerMm + sums.odometerMm,
    sensorMs: [first + add1, second + add2, third + add3, fourth + add4],
  };
}
