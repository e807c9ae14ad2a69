import type { Alarm } from "../model/alarms.ts";
import type { Alert, LocationAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Attributes } from "../model/effects.ts";
import type { DeviceState, LocationRecord, Totals } from "../model/location.ts";
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
}

/** What is committed with the fixes that caused it. */
export interface AlertOutcome {
  /** The rules' states after it, as text that only the engine reads; undefined: none is kept. Goes into `DeviceState.rules`. */
  readonly rules: string | undefined;
  readonly alerts: readonly Alert[];
  readonly notices: readonly NewNotice[];
}

/** The rules of one device over one batch of its reports. Nothing of it counts before `outcome` has been committed; a watch that is thrown away has done nothing. */
export interface Watch {
  /** It found as much as one commit may hold: further reports are for the next one. */
  readonly full: boolean;
  /** So many late reports at most are for one commit. */
  readonly mostLate: number;
  /** A report that is newer than all before, with the totals after it. Answers the alerts that it raised, if any. */
  observe(observation: Observation, totals: Totals): LocationAlerts | undefined;
  /**
   * Reports that came too late, in order, between the stored record before the first of them and what is stored after it (`before`, `after`; undefined: none).
   * What had fired is not asked again; what they newly show is marked late. Answers the alerts of each, in their order.
   */
  observeLate(
    late: readonly { readonly observation: Observation; readonly totals: Totals }[],
    stored: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
  ): readonly (LocationAlerts | undefined)[];
  /** What became true by time alone. */
  tick(): void;
  /** Undefined: nothing changed. */
  outcome(): AlertOutcome | undefined;
}

/** Rules over fixes. Nothing here reads a clock or a store but `prepare`. */
export interface AlertEngine {
  /** Loads the rules and zones of these accounts. Undefined: they are there. Rejects while the store is down. */
  prepare(accountKeys: Iterable<number>): Promise<void> | undefined;
  /** False: it is known that no rule watches this device, so what only rules look at need not be kept. */
  watches(device: WatchedDevice): boolean;
  /** Undefined: no rule watches this device. `now`: epoch ms, the moment of evaluation. */
  watch(device: WatchedDevice, state: DeviceState, now: number): Watch | undefined;
  /** Ingest calls this after it has committed a device. `notices`: the notices in that commit. The device counts as heard of, and the new state sets its timers. */
  committed(device: WatchedDevice, state: DeviceState, notices: number): void;
  /** The device was heard of without anything to store. */
  heard(device: DeviceKey, now: number): void;
}
