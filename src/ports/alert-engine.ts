import type { Alert, AlertEnd, AlertHandling, LocationAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { FuelTables } from "../model/fuel-table.ts";
import type { Totals } from "../model/location.ts";
import type { NewNotice } from "../model/notice.ts";
import type { Observation } from "../model/observation.ts";
import type { Standing } from "../model/standing.ts";

/** The device that a watch is about. */
export interface WatchedDevice {
  readonly key: DeviceKey;
  readonly accountKey: number;
  /** The id that it is registered under (not an alias that it may have reported). */
  readonly id: string;
  readonly name: string;
  /** Epoch ms; null: never. */
  readonly expires: number | null;
  /** km */
  readonly odometerStart: number;
  /** What raw values of its fuel sensors mean. */
  readonly fuelTables?: FuelTables | undefined;
}

/** What rules found, to be committed with the records that caused it. */
export interface AlertOutcome {
  /** Goes into `DeviceHead.rules`. Undefined: none is kept. */
  readonly rules: string | undefined;
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNotice[];
  /** Ends of alerts, whether people are told of them or not. */
  readonly ended: readonly AlertEnd[];
}

/**
 * The rules of one device over records that are newer than all before. Nothing of it counts before `outcome` has been
 * committed; a watch that is thrown away has done nothing.
 */
export interface Watch {
  /** It found as much as one commit may hold: further records are for the next watch. */
  readonly full: boolean;
  /**
   * The next record, with the totals after it: sums over all of the history. Answers the alerts that it raised, if any.
   */
  observe(observation: Observation, totals: Totals): LocationAlerts | undefined;
  /** What became true by time alone. */
  tick(): void;
  /**
   * Event times of observed records that time alone had already judged past: what it found may be wrong, so the
   * follower takes these for late.
   */
  readonly late: { readonly from: number; readonly to: number } | undefined;
  /** The states as the records alone made them, for `FoldPoint.rules`. Undefined: all rules rest. */
  settled(): string | undefined;
  /** Undefined: nothing changed. */
  outcome(): AlertOutcome | undefined;
}

/** An alert as a review knows it. */
export interface ToldAlert extends Alert {
  readonly handling: Pick<AlertHandling, "state" | "endedAt">;
}

/** Where rules are folded again from. */
export interface ReviewStart {
  /** The last record before; undefined: there is none. */
  readonly time: number | undefined;
  /** Sums over all of the history. */
  readonly totals: Totals;
  /** `FoldPoint.rules` of that point. */
  readonly rules: string | undefined;
  /** Event times of the late records: the first and the last. */
  readonly late: { readonly from: number; readonly to: number };
  /** Event time before which the device's positions were deleted. */
  readonly keptFrom: number | undefined;
}

/**
 * The rules of a device folded again over the part of its history that late records came into. It reads nothing itself.
 */
export interface Review {
  /** Event time from which on the device's alerts are to be read: of all that may have been told of this part. */
  readonly toldFrom: number;
  observe(observation: Observation, totals: Totals): void;
  /** See `Watch.settled`. Two folds that came to the same have the same text. */
  settled(): string | undefined;
  /**
   * Whether the rules stand now as this text, which `settled` gave once, has it. Rules that were changed or removed
   * since count for nothing.
   */
  meets(kept: string | undefined): boolean;
  /** Whether these rules still judge as they did at the beginning. False: throw the review away and begin anew. */
  readonly isCurrent: boolean;
  /**
   * What is to be committed. `standing`: how the device stands now · `told`: all alerts of the device since `toldFrom`,
   * in the order of time · `until`: event time before which the records were folded again, where the fold met there
   * what is kept or gives others their turn; undefined: it went on to the newest record, and its states are the present
   * ones.
   */
  outcome(standing: Standing, told: readonly ToldAlert[], now: number, until: number | undefined): ReviewOutcome;
}

/** What a review comes to. */
export interface ReviewOutcome extends AlertOutcome {
  /** What one commit does not hold: ask for it when this is committed. Undefined: there is nothing more. */
  readonly more: ((now: number) => ReviewOutcome) | undefined;
}

/** Rules over records. Nothing here reads a clock or a store but `prepare`. */
export interface AlertEngine {
  /** Loads the rules and zones of these accounts. Undefined: they are there. Rejects while the store is down. */
  prepare(accountKeys: Iterable<number>): Promise<void> | undefined;
  /** False: it is known that no rule watches this device, so what only rules look at need not be kept. */
  watches(device: WatchedDevice): boolean;
  /** Undefined: no rule watches this device. `now`: epoch ms, the moment of evaluation. */
  watch(device: WatchedDevice, standing: Standing, now: number): Watch | undefined;
  /** Undefined: no rule watches this device. `standing`: how it stands now, with the present states. */
  review(device: WatchedDevice, standing: Standing, start: ReviewStart, now: number): Review | undefined;
  /**
   * The follower calls this when what it found for a device was committed: from new records, by time alone, or by a
   * review. `notices`: those of the commit. It sets the device's timers.
   */
  followed(device: WatchedDevice, standing: Standing, notices: number): void;
  /**
   * This process follows other devices from now on. `gained`: shares that it did not follow before: their trackers need
   * time to come back.
   */
  sharesMoved(gained: readonly number[]): void;
  /** The device was heard of, though its newest record is as before: late records came, or nothing to store. */
  heard(device: DeviceKey, now: number): void;
}
