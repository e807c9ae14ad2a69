import type { Alert } from "../model/alert.ts";
import type { AlertRule, AlertRuleFields } from "../model/alert-rule.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Geofence } from "../model/geofence.ts";
import type { Notice, NoticeChannel, NoticeState } from "../model/notice.ts";

/** What of a geofence a caller sets. */
export type GeofenceFields = Pick<Geofence, "name" | "description" | "zone">;

/** Zones of accounts. */
export interface GeofenceStore {
  /** `full`: the account has `most` already. */
  create(accountKey: number, id: string, fields: GeofenceFields, now: number, most: number): Promise<Geofence | "full">;
  find(id: string): Promise<Geofence | undefined>;
  /** All of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly Geofence[]>;
  replace(key: number, fields: GeofenceFields, now: number): Promise<Geofence | undefined>;
  /** False: there was none. */
  remove(key: number): Promise<boolean>;
}

/** Rules of accounts. */
export interface AlertRuleStore {
  create(
    accountKey: number,
    userKey: number,
    id: string,
    fields: AlertRuleFields,
    now: number,
    most: number,
  ): Promise<AlertRule | "full">;
  find(id: string): Promise<AlertRule | undefined>;
  /** All of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly AlertRule[]>;
  /** Accounts that have a rule at all. */
  accounts(): Promise<readonly number[]>;
  /** The revision grows by one. */
  replace(key: number, userKey: number, fields: AlertRuleFields, now: number): Promise<AlertRule | undefined>;
  /** Removes, changes and makes rules in one transaction: all or nothing. */
  exchange(
    accountKey: number,
    userKey: number,
    change: {
      readonly remove: readonly number[];
      readonly replace: readonly { readonly key: number; readonly fields: AlertRuleFields }[];
      readonly create: readonly { readonly id: string; readonly fields: AlertRuleFields }[];
    },
    now: number,
    most: number,
  ): Promise<readonly AlertRule[] | "full">;
  /** False: there was none. */
  remove(key: number): Promise<boolean>;
}

/** Place of an alert in a device's alerts: by event time, then in the order of their commits. */
export interface AlertKey {
  readonly time: number;
  readonly key: number;
}

/** An alert as read, with its place and the channels by which people were really told. */
export interface StoredAlert extends Alert {
  readonly key: number;
  readonly channels: readonly NoticeChannel[];
}

/** Alerts that were committed with the fixes that caused them. */
export interface AlertStore {
  /** In order, both ends inclusive; after the alert of that place; of the rule of this name only. */
  list(
    device: DeviceKey,
    range: {
      readonly from: number;
      readonly to: number;
      readonly after?: AlertKey;
      readonly limit: number;
      readonly name?: string;
    },
  ): Promise<readonly StoredAlert[]>;
  find(id: string): Promise<StoredAlert | undefined>;
}

/** What became of a try. `queued` again: another try at `dueAt`. */
export interface NoticeOutcome {
  readonly state: "sent" | "failed" | "suppressed" | "queued";
  readonly reason: string | null;
  readonly peerId: string | null;
  /** The next try; meaningful for `queued`. */
  readonly dueAt: number;
}

/** The outbox. A notice is worked on by whoever claimed it; each step is a compare-and-set. */
export interface NoticeStore {
  /** Notices of a channel that may be sent now, those due first at first; not those that are being sent. */
  due(channel: NoticeChannel, now: number, limit: number): Promise<readonly Notice[]>;
  /** When the next queued notice of any channel is due; undefined: none waits. */
  nextDue(): Promise<number | undefined>;
  /**
   * Makes a queued notice `sending`, and in the same transaction takes a place in the device's daily counter for an e-mail or SMS that holds none.
   * `limit`: the day's places are all taken, and the notice is suppressed now. `gone`: it is not queued any more.
   */
  claim(
    key: number,
    now: number,
    counter: { readonly day: string; readonly limit: number } | undefined,
  ): Promise<"claimed" | "limit" | "gone">;
  /** Ends a try. A place in the counter is given back where the notice is not sent after all (`failed`, `suppressed`); while it waits for another try it keeps it. */
  finish(key: number, outcome: NoticeOutcome, now: number): Promise<void>;
  /** On start: what a crash left as `sending` is queued again, keeping its place; how many. */
  recover(now: number): Promise<number>;
  /** Newest first; after the notice of that key; in these states only, where given. */
  list(
    device: DeviceKey,
    range: { readonly after?: number; readonly limit: number; readonly states?: readonly NoticeState[] },
  ): Promise<readonly Notice[]>;
  find(device: DeviceKey, id: string): Promise<Notice | undefined>;
  /** Queues a final notice once more, by hand; undefined: it is not final. */
  resend(key: number, now: number): Promise<Notice | undefined>;
}
