import type { DeviceKey } from "../model/device.ts";

/** What is sent from a device in a day of its account. */
export type DailyKind = "sms" | "email";

/** How many may be sent in a day: from one device, and from all of its account. */
export interface DailyLimits {
  readonly device: number;
  readonly account: number;
}

/**
 * What came of taking places of a day. `device`: the device has none left, or is gone · `account`: all of its account
 * have none left.
 */
export type DailyTaken = "taken" | "device" | "account";

/** So many of each kind. */
export interface DailySent {
  readonly sms: number;
  readonly email: number;
}

/** Daily counters of what is sent from devices and accounts. */
export interface DailyStore {
  /** Atomically adds `count` (one, unless given) for the device and its account, if both stay within their limits. */
  take(device: DeviceKey, day: string, kind: DailyKind, limits: DailyLimits, count?: number): Promise<DailyTaken>;
  /** The same for what is of no device. False: the limit is reached. */
  takeOfAccount(accountKey: number, day: string, kind: DailyKind, limit: number, count?: number): Promise<boolean>;
  /** Gives back what was taken and not sent after all. */
  giveBack(device: DeviceKey, day: string, kind: DailyKind, count?: number): Promise<void>;
  sent(device: DeviceKey, day: string): Promise<DailySent>;
  /** What all devices of an account sent, those that are gone too. */
  sentOfAccount(accountKey: number, day: string): Promise<DailySent>;
}
