/**
 * The sums that a device's history gives, as of one record: a fold over its records in the order of event time,
 * so they do not depend on the order in which the records arrived.
 */
export interface Totals {
  /** Great-circle sums between credible fixes, whole millimetres: sums of integers are exact, in whatever order they are made. */
  readonly odometerMm: number;
  /** Milliseconds that input 1 to 4 was active. */
  readonly sensorMs: readonly [number, number, number, number];
  /** Event time of the last record in which the device moved; of its first record where it never has. */
  readonly movedAt: number;
  /** Last known states of inputs 1 to 4: bit n-1 of `known` says that input n was ever reported, of `active` that it is on. */
  readonly inputsKnown: number;
  readonly inputsActive: number;
  /** Last credible position and its event time; absent before the first one. */
  readonly anchor?: Anchor;
  /** The last position, where it is out of reach of the anchor: the next one decides whether it was credible. Absent where there is no doubt. */
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

/** Where a record stands in its device's history: by event time; at one moment, as they came. */
export interface RecordPlace {
  /** Event time, epoch ms. */
  readonly time: number;
  /**
   * The device's records are numbered as they arrive, from `firstArrival` on. What was stored before records had numbers has its hash here, which is smaller:
   * in which order those of one moment came, nobody knows.
   */
  readonly arrival: number;
}

/** Number of the first record of a device. Greater than any hash; 2^52 more numbers are exact. */
export const firstArrival = 2 ** 52;

/** The place before all records of a moment. */
export function placeBefore(time: number): RecordPlace {
  return { time, arrival: Number.NEGATIVE_INFINITY };
}

/** The place behind all records of a moment. */
export function placeBehind(time: number): RecordPlace {
  return { time, arrival: Number.POSITIVE_INFINITY };
}

/** Order of a device's records. */
export function byPlace(one: RecordPlace, other: RecordPlace): number {
  return one.time - other.time || one.arrival - other.arrival;
}

/**
 * One stored location, immutable but for `totals` (a late record changes those of the records after it).
 * Order within a device: by `time`, then by `arrival`. (`time`, `hash`) is the content key that drops exact repeats.
 */
export interface LocationRecord extends RecordPlace {
  /** 52-bit hash of everything that was reported. */
  readonly hash: number;
  /** Arrival time, epoch ms. */
  readonly receivedAt: number;
  /** The tracker itself says whether its position is valid. */
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number;
  readonly course?: number;
  /**
   * It came without a position. It is shown at the one that `totals.anchor` names, taken at `positionTime`; where there is none yet, it has latitude and longitude 0,
   * which mean nothing: then it is no location, and only readings show it.
   */
  readonly unlocated?: true;
  /** For a record that is shown at the position of an earlier one: when that was taken. */
  readonly positionTime?: number;
  /** The other fields of the API's Location as JSON members, `attributes` last and left open: see `locationJson`. */
  readonly extras: string;
  /** The Location's alert and warning fields as JSON members, with a leading comma; absent where there are none: see `alertMembers`. */
  readonly alerts?: string;
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

/** The state of a device: what each commit that concerns it changes, and all that the next one must know. */
export interface DeviceState {
  /** Grows by one with each commit; a commit that finds another version must reload. 0: never reported. */
  readonly version: number;
  /** Event time of the newest record; 0: none. */
  readonly time: number;
  /** Totals as of the newest record. */
  readonly totals: Totals;
  /**
   * What `lastLocation` answers: the newest record, at the last credible position; the newest one with a position where none was ever credible.
   * Absent before the first position ever.
   * (Where the newest record's position is not credible or it has none, this one repeats the last credible position and says so by `positionTime`.)
   */
  readonly last?: LocationRecord;
  /** When the newest record arrived, where `last` is another one. */
  readonly receivedAt?: number;
  /** How many records were numbered so far. */
  readonly arrivals: number;
  /** States of the device's alert rules, as text that the alert engine reads. */
  readonly rules?: string;
  /**
   * Retention deletes records from before this event time. A report from before it may repeat one of them, so it is not stored. The last chunk before it stays,
   * because totals go on from there. Absent: nothing was deleted. It never goes back.
   */
  readonly keptFrom?: number;
}

/** When a device's newest record arrived; undefined: there is none. */
export function arrivalOf({ receivedAt, last }: DeviceState): number | undefined {
  return receivedAt ?? last?.receivedAt;
}

/** Totals of a device without any record. */
export const noTotals: Totals = Object.freeze({
  odometerMm: 0,
  sensorMs: Object.freeze([0, 0, 0, 0] as const),
  movedAt: 0,
  inputsKnown: 0,
  inputsActive: 0,
});

/** State of a device that never reported. */
export const neverReported: DeviceState = Object.freeze({ version: 0, time: 0, arrivals: 0, totals: noTotals });

/** Sums that are added to totals. */
export type TotalsSums = Pick<Totals, "odometerMm" | "sensorMs">;

/** Totals with sums added: what a late record makes of those after it. */
export function shiftedTotals(totals: Totals, sums: TotalsSums): Totals {
  const [first, second, third, fourth] = totals.sensorMs;
  const [add1, add2, add3, add4] = sums.sensorMs;
  return {
    ...totals,
    odometerMm: totals.odometerMm + sums.odometerMm,
    sensorMs: [first + add1, second + add2, third + add3, fourth + add4],
  };
}
