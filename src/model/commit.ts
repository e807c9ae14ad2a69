import type { Alert, AlertEnd } from "./alert.ts";
import type { DeviceKey } from "./device.ts";
import type { DeviceState, LocationRecord, Totals, TotalsSums } from "./location.ts";
import type { NewNotice } from "./notice.ts";

/** New totals for a record that is already stored (a late record before it changed them). */
export interface TotalsPatch {
  readonly time: number;
  readonly hash: number;
  readonly totals: Totals;
}

/** What a late record adds to the totals of every record after the given place that was stored before the commit. */
export interface TotalsShift extends TotalsSums {
  readonly afterTime: number;
  readonly afterArrival: number;
}

/** A report that is kept as evidence but is not stored as a location: its time can't be right (`future`, `past`), or its position is not on earth (`position`). */
export interface RefusedReport {
  readonly device: DeviceKey;
  readonly receivedAt: number;
  readonly time: number;
  readonly cause: "future" | "past" | "position";
  /** The report as JSON. */
  readonly report: string;
}

/**
 * Why a device's reports can't be stored though others' can. `damaged`: something of it on the disk can't be read · `tooLarge`: memory runs out over it ·
 * `defect`: a fault of the service.
 */
export type SetAsideCause = "damaged" | "tooLarge" | "defect";

/** Everything that one batch does to one device. */
export interface DeviceCommit {
  readonly device: DeviceKey;
  /** New records in their order; none of them is stored yet. */
  readonly records: readonly LocationRecord[];
  /** These records have these totals after the commit, whatever is shifted. */
  readonly patches: readonly TotalsPatch[];
  /** What is added to the totals of stored records; of several that concern a record, all are. */
  readonly shifts?: readonly TotalsShift[];
  /** The state after this commit; its version is the one before plus one. */
  readonly state: DeviceState;
  /** The state follows from the one before and the records: see `followedState`. A store need not write such a state at once. */
  readonly follows?: true;
  /** What the device's rules found in these records, and who is to be told. */
  readonly alerts?: readonly Alert[];
  readonly notices?: readonly NewNotice[];
  /** Ends of alerts that rules raised before or in this commit. */
  readonly ended?: readonly AlertEnd[];
}

/** One transaction: all of it or nothing. */
export interface CommitBatch {
  readonly devices: readonly DeviceCommit[];
  readonly refused: readonly RefusedReport[];
}
