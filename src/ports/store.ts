import type { Account, User } from "../model/account.ts";
import type { CommitBatch, RefusedReport } from "../model/commit.ts";
import type { Device, DeviceFields, DeviceKey } from "../model/device.ts";
import type { DeviceState, LocationRecord } from "../model/location.ts";

/**
 * Where everything is kept. Two engines implement it; one contract suite runs against both.
 * Every call rejects with `StoreUnavailable` while the store can't be used (full disk, locked file, lost connection), and works again by itself.
 */
export interface Store {
  readonly locations: LocationStore;
  readonly devices: DeviceStore;
  readonly users: UserStore;
  readonly accounts: AccountStore;
  /** Resolves when a write would succeed now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The store can't be used at present; trying again later is right. `cause` holds the engine's own error. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A commit found a device at another version than it was made for, or deleted: reload these and evaluate again. Nothing was written. */
export interface CommitConflict {
  readonly conflicts: readonly DeviceKey[];
}

/** Event-time range, both ends inclusive, epoch ms. */
export interface HistoryRange {
  readonly from: number;
  readonly to: number;
  /** Content key after which to go on; absent: from the start. */
  readonly after?: RecordKey;
  /** At most so many records. */
  readonly limit: number;
  /** The device's odometer start, km: added to every `milleage`. */
  readonly odometerStart: number;
}

/** Content key of a record within its device. */
export interface RecordKey {
  readonly time: number;
  readonly hash: number;
}

/** Some of a history's records, in order, as the JSON objects of the API's Location, joined by commas. */
export interface HistoryChunk {
  readonly json: Uint8Array;
  readonly count: number;
  readonly last: RecordKey;
}

/** What surrounds a late record: enough to fold the device's totals again from there. */
export interface HistoryContext {
  /** The newest record before the asked time; absent where there is none. */
  readonly before?: LocationRecord;
  /** The records at and after the asked time, in order, at most `limit`. */
  readonly from: readonly LocationRecord[];
  /** Whether records follow those in `from`. */
  readonly more: boolean;
}

/** Positions: append-first, never rewritten by a reader. */
export interface LocationStore {
  /** States of devices, in the order asked; a device that never reported gives version 0. */
  states(devices: readonly DeviceKey[]): Promise<readonly DeviceState[]>;
  /** One durable transaction. Undefined: all of it is on disk. */
  commit(batch: CommitBatch): Promise<CommitConflict | undefined>;
  context(device: DeviceKey, time: number, limit: number): Promise<HistoryContext>;
  /** Reads in chunks of bounded size, so that a long history costs no memory. Records committed meanwhile may or may not appear. */
  history(device: DeviceKey, range: HistoryRange): AsyncIterable<HistoryChunk>;
  /** The newest refused reports of a device, newest first. */
  refused(device: DeviceKey, limit: number): Promise<readonly RefusedReport[]>;
}

/** Registered devices. Conflicts are answers, not errors. */
export interface DeviceStore {
  /** `exists`: the id or an alias is a device's already. `noLicense`: none of the account's is free at `now`. */
  create(accountKey: number, fields: DeviceFields, now: number): Promise<Device | "exists" | "noLicense">;
  find(id: string): Promise<Device | undefined>;
  /** The device that is registered under one of these identifiers, as id or alias; the first that matches. */
  identify(ids: readonly string[]): Promise<Device | undefined>;
  /** All devices of an account, by id. */
  list(accountKey: number): Promise<readonly Device[]>;
  /** `noLicense`: the change would reactivate an expired device and none is free. */
  replace(key: DeviceKey, fields: DeviceFields, now: number): Promise<Device | "exists" | "noLicense" | "missing">;
  /** Removes the device and its history. False: there was none. */
  remove(key: DeviceKey): Promise<boolean>;
}

/** Requests that a user made since the last flush, to be added to the stored sums. */
export interface UsageDelta {
  readonly userKey: number;
  /** UTC day, `2026-11-21`. */
  readonly day: string;
  readonly requests: number;
}

/** Requests that a user made: ever, and on the asked UTC day. */
export interface Usage {
  readonly total: number;
  readonly daily: number;
}

/** Results that were read from a device since the last flush. */
export interface ResultsDelta {
  readonly device: DeviceKey;
  readonly day: string;
  readonly results: number;
}

/** What a user is made of. */
export type NewUser = Omit<User, "key" | "creation" | "modification" | "lastLogin">;

/** Users, and the counters of what they and their devices' readers used. */
export interface UserStore {
  create(user: NewUser, now: number): Promise<User | "emailInUse">;
  /** By e-mail address without regard to case. */
  findByEmail(email: string): Promise<User | undefined>;
  findByKey(key: number): Promise<User | undefined>;
  /** All users of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly User[]>;
  setApiKey(key: number, apiKey: { readonly id: string; readonly hash: string } | null, now: number): Promise<void>;
  setLastLogin(key: number, now: number): Promise<void>;
  /** Adds to the counters; one commit for all. */
  addUsage(users: readonly UsageDelta[], devices: readonly ResultsDelta[]): Promise<void>;
  usage(userKey: number, day: string): Promise<Usage>;
  results(device: DeviceKey, day: string): Promise<number>;
}

/** Accounts, and what the whole service keeps. */
export interface AccountStore {
  /** Accounts in the order of their making. */
  list(): Promise<readonly Account[]>;
  find(key: number): Promise<Account | undefined>;
  create(account: Omit<Account, "key" | "creation">, now: number): Promise<Account>;
  /** Licences in use at a moment: devices that have not expired. */
  licensesUsed(accountKey: number, now: number): Promise<number>;
  /** A setting of the whole service (the key that signs tokens); made by `make` when it is not there yet, atomically. */
  setting(name: string, make: () => string): Promise<string>;
}
