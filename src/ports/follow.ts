import type { Alert, AlertEnd } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Day, DeviceHead } from "../model/follow.ts";
import type { TotalsSums } from "../model/location.ts";
import type { NewNotice } from "../model/notice.ts";
import type { Observation } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { WatchedDevice } from "./alert-engine.ts";

/** What the fold reads in the extras of a record: see `fold/step.ts`. */
export interface StepFacts {
  readonly vague: boolean;
  readonly ignitionOff: boolean;
  readonly inputsReported: number;
  readonly inputsActive: number;
}

/**
 * A record that has just been appended, with what rules and the fold see of it: readings as they were said, so that
 * nothing is parsed.
 */
export type FreshRecord = SaidRecord & Observation & StepFacts;

/** What one append brought of a device, in the order in which it came. */
export interface AppendedRecords {
  readonly device: WatchedDevice;
  readonly records: readonly FreshRecord[];
}

/** Takes what was appended; the follower implements it. */
export interface Following {
  /**
   * Called once for each append, in their order, as soon as it is on disk and before anybody is told. Returns at once,
   * and never throws. `place`: what the append answered.
   */
  appended(batch: readonly AppendedRecords[], place: number): void;
  /**
   * An append failed for good, and may be on disk all the same: what of these event times was appended is not followed.
   */
  mayBeAppended(device: DeviceKey, span: { readonly from: number; readonly to: number }): void;
  /** The device was heard of without anything to store. */
  heard(device: Pick<WatchedDevice, "key" | "id">, now: number): void;
  /** Bytes that wait to be followed. More than `mostLagBytes`: nothing more is taken from trackers. */
  readonly lagBytes: number;
  readonly isFull: boolean;
  /** Called when `isFull` turns false. */
  onRoom(listener: () => void): void;
}

/**
 * Heads of devices as they are now: what was appended before the call is in them, and their ended days are in the
 * store. Rejects with `StoreUnavailable` where a head must be read and can't.
 */
export interface Heads {
  head(device: DeviceKey): DeviceHead | undefined | Promise<DeviceHead | undefined>;
}

/** What follows from the records of one device, and is committed together. */
export interface FollowCommit {
  readonly device: DeviceKey;
  readonly head: DeviceHead;
  /** Days that were folded: of a day that is stored, this one counts from now on. Today is in the head. */
  readonly days: readonly Day[];
  readonly alerts?: readonly Alert[];
  readonly notices?: readonly NewNotice[];
  readonly ended?: readonly AlertEnd[];
}

/** Which days of a device to read. Both ends inclusive. */
export interface DaysAsk {
  readonly from?: number;
  readonly to?: number;
  /** `last`: the newest come first. */
  readonly order: "first" | "last";
  readonly limit: number;
}

/** Where it is kept what follows from records. Rejects with `StoreUnavailable`, as all of the store. */
export interface FollowStore {
  /**
   * In the order asked. Undefined: the device was never followed. One that is damaged rejects with `StoreUnavailable`
   * and trouble `damaged`.
   */
  heads(devices: readonly DeviceKey[]): Promise<readonly (DeviceHead | undefined)[]>;
  /** Devices whose heads have late days, in the order of their keys: those behind one, so many at most. */
  lateDevices(after: DeviceKey, limit: number): Promise<readonly DeviceKey[]>;
  /** One durable transaction. Devices that are gone are left out, with their alerts and notices. */
  commit(batch: readonly FollowCommit[]): Promise<void>;
  /** Days that have ended. A day that is damaged is left out and told in the log. */
  days(device: DeviceKey, ask: DaysAsk): Promise<readonly Day[]>;
  /** Sums of the days before one, those that were deleted included. Today is in the head. */
  sumsBefore(device: DeviceKey, day: number): Promise<TotalsSums>;
  /**
   * What the ended days before one hold, of each device in the order asked. `from` and `to`: event times of the first
   * and the last record, to the day.
   */
  daysBefore(
    devices: readonly DeviceKey[],
    before: number,
  ): Promise<readonly { readonly records: number; readonly from: number; readonly to: number }[]>;
  /** Deletes the days before one. Their sums stay. */
  forgetDays(device: DeviceKey, before: number): Promise<void>;
}
