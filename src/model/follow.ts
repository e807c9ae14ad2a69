import type { LocationAlerts } from "./alert.ts";
import type { DeviceKey } from "./device.ts";
import type { Totals, TotalsSums } from "./location.ts";
import type { SaidRecord } from "./said.ts";

/** Where the fold of a device's records stands. */
export interface FoldPoint {
  /** Event time of the last record. Undefined: there is none yet. */
  readonly time: number | undefined;
  /** What the fold holds. Its sums are those within the day. */
  readonly totals: Totals;
  /** Records of the day. */
  readonly records: number;
  /**
   * States of the device's rules behind the last record, as text that only the alert engine reads. Absent: all of them
   * rest, or nobody keeps them for this time.
   */
  readonly rules?: string;
}

/** What the fold made of a device's UTC day. */
export interface Day {
  /** Days since 1970. */
  readonly day: number;
  /** Before its first record. */
  readonly before: FoldPoint;
  /** Points within a busy day, each behind all records of its moment. */
  readonly points: readonly FoldPoint[];
  /** Behind its last record. */
  readonly end: FoldPoint;
}

/**
 * Event times of late records that are not folded in their places yet: the first and the last. Between them there may
 * be others.
 */
export interface LateSpan {
  /** The day of `from`. */
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

/** How far a device is followed: one row, rewritten as its records come. */
export interface DeviceHead {
  /** The newest record, and the newest one that came with a position. Absent: there is none. */
  readonly newest?: SaidRecord;
  readonly located?: SaidRecord;
  /** What rules found at the newest record. */
  readonly found?: LocationAlerts;
  /** The day of the newest record, as far as it has come. */
  readonly today?: Day;
  /** Sums of all days before it. */
  readonly sumsBefore: TotalsSums;
  /** Days with records that are not folded in their places yet, in their order. */
  readonly late: readonly LateSpan[];
  /**
   * Present states of the device's rules, with what time alone made of them, and since when each of them watches: as
   * text that only the alert engine reads.
   */
  readonly rules?: string;
  /** Records from before this event time, a day's beginning, were deleted. It never goes back. */
  readonly keptFrom?: number;
}

/** Records of a device that were appended, and that nobody is known to have followed. */
export interface UnfollowedSpan {
  readonly device: DeviceKey;
  /** Event times of the first and the last of them. */
  readonly from: number;
  readonly to: number;
}
