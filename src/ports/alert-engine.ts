import type { Alarm } from "../model/alarms.ts";
import type { Alert, AlertEnd, AlertHandling, LocationAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Attributes } from "../model/effects.ts";
import type { FuelTables } from "../model/fuel-table.ts";
import type { DeviceState, LocationRecord, RecordPlace, Totals } from "../model/location.ts";
import type { NewNotice } from "../model/notice.ts";
import type { Readings } from "../model/readings.ts";

/** A report as rules see it. */
export interface Observation {
  /** Event time, epoch ms. */
  readonly time: number;
  readonly receivedAt: number;
  /** It has a position of its own, valid or not; and one that is valid. */
  readonly located: boolean;
  readonly positioned: boolean;
  /** Meaningful where `located`. */
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  /** m */
  readonly altitude: number | undefined;
  readonly alarms: readonly Alarm[];
  readonly readings: Readings;
  readonly attributes: Attributes;
}

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

/** What is committed with the fixes that caused it. */
export interface AlertOutcome {
  /** The rules' states after it, as text that only the engine reads; undefined: none is kept. Goes into `DeviceState.rules`. */
  readonly rules: string | undefined;
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNotice[];
  /** Ends of alerts, whether people are told of them or not. */
  readonly ended?: readonly AlertEnd[];
}

/** The rules of one device over one batch of its reports. Nothing of it counts before `outcome` has been committed; a watch that is thrown away has done nothing. */
export interface Watch {
  /** It found as much as one commit may hold: further reports are for the next one. */
  readonly full: boolean;
  /** The most reports in order that one commit takes beside late ones. */
  readonly mostBesideLate: number;
  /** A report that is newer than all before, with the totals after it. Answers the alerts that it raised, if any. */
  observe(observation: Observation, totals: Totals): LocationAlerts | undefined;
  /** Reports came that are older than what is stored: of these event times. A review is to see them. */
  late(from: number, to: number): void;
  /** What became true by time alone. */
  tick(): void;
  /** Undefined: nothing changed. */
  outcome(): AlertOutcome | undefined;
}

/** An alert as a review knows it. */
export interface ToldAlert extends Alert {
  readonly handling: Pick<AlertHandling, "state" | "endedAt">;
}

/**
 * Whether a review still counts. `late`: more late records came, and the engine names the device again when they rest · `anew`: positions were deleted or the rules
 * changed, and a new review may begin at once.
 */
export type ReviewStanding = "stands" | "late" | "anew";

/** What a review comes to. */
export interface ReviewOutcome extends AlertOutcome {
  /** Nothing is left to be told: the rules have seen all late records. */
  readonly isWhole: boolean;
}

/** The rules of a device over the part of its history that late records came into. It reads nothing itself. */
export interface Review {
  /** The place of history behind which it is to be read. */
  readonly after: RecordPlace;
  /** Event time from which on the device's alerts are to be read. */
  readonly toldFrom: number;
  /** Whether what the review found still counts for a state of the device. */
  standing(state: DeviceState): ReviewStanding;
  /** Begins behind the last record at or before that place. */
  begin(before: LocationRecord | undefined): void;
  /** Takes the next records. False: no more are needed. */
  take(records: readonly LocationRecord[], now: number): boolean;
  /**
   * What is to be committed for a state. All records up to that state have been taken, unless no more were needed, and `told` are all alerts of the device since `toldFrom`, in the order of time.
   * Undefined: the review does not stand for that state (`standing`). The review may take more records afterwards.
   */
  outcome(state: DeviceState, told: readonly ToldAlert[], now: number): ReviewOutcome | undefined;
}

/** Rules over fixes. Nothing here reads a clock or a store but `prepare`. */
export interface AlertEngine {
  /** Loads the rules and zones of these accounts. Undefined: they are there. Rejects while the store is down. */
  prepare(accountKeys: Iterable<number>): Promise<void> | undefined;
  /** False: it is known that no rule watches this device, so what only rules look at need not be kept. */
  watches(device: WatchedDevice): boolean;
  /** Undefined: no rule watches this device. `now`: epoch ms, the moment of evaluation. */
  watch(device: WatchedDevice, state: DeviceState, now: number): Watch | undefined;
  /** Undefined: no late records wait to be seen. */
  review(device: WatchedDevice, state: DeviceState): Review | undefined;
  /** Ingest calls this after it has committed a device. `notices`: the notices in that commit. The device counts as heard of, and the new state sets its timers. */
  committed(device: WatchedDevice, state: DeviceState, notices: number): void;
  /** The device was heard of without anything to store. */
  heard(device: DeviceKey, now: number): void;
}
