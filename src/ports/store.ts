import type { Account, User } from "../model/account.ts";
import type { AccountCaps } from "../model/caps.ts";
import type { Device, DeviceFields, DeviceKey, SpokenWay } from "../model/device.ts";
import type { QuotaName, Quotas, QuotaUse } from "../model/quotas.ts";
import type { AlertRuleStore, AlertStore, GeofenceStore, NoticeStore } from "./alert-store.ts";
import type { CommandStore } from "./command-store.ts";
import type { DailyStore } from "./daily.ts";
import type { FollowStore } from "./follow.ts";
import type { GroupStore } from "./groups.ts";
import type { MuteStore } from "./mutes.ts";
import type { Page, PageAsk } from "./pages.ts";
import type { PositionStore } from "./positions.ts";
import type { RecipientStore } from "./recipients.ts";
import type { RefusedStore } from "./refused-store.ts";
import type { ShareStore } from "./shares.ts";
import type { SecondFactorStore, SignInStore } from "./sign-ins.ts";

/**
 * Where everything is kept. Two engines implement it; one contract suite runs against both.
 * Every call rejects with `StoreUnavailable` while the store can't be used (full disk, locked file, lost connection),
 * and works again by itself.
 */
export interface Store {
  readonly positions: PositionStore;
  readonly follow: FollowStore;
  readonly devices: DeviceStore;
  readonly users: UserStore;
  readonly accounts: AccountStore;
  readonly groups: GroupStore;
  readonly commands: CommandStore;
  readonly daily: DailyStore;
  readonly geofences: GeofenceStore;
  readonly alertRules: AlertRuleStore;
  readonly alerts: AlertStore;
  readonly notices: NoticeStore;
  readonly refused: RefusedStore;
  readonly recipients: RecipientStore;
  readonly mutes: MuteStore;
  readonly signIns: SignInStore;
  readonly shares: ShareStore;
  readonly secondFactors: SecondFactorStore;
  /**
   * Resolves when positions can be written and read now. Says nothing of single devices: a damaged page of one may fail
   * its calls all the same.
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What stands behind a failure of the store. `down`: a full disk, a locked file, a lost connection · `damaged`: what is
 * on the disk can't be read · `exhausted`: memory or time ran out over what was asked for. The last two may concern one
 * device alone: `Store.check` tells.
 */
export type StoreTrouble = "down" | "damaged" | "exhausted";

/** The store can't do what was asked at present; trying again later is right. `cause` holds the engine's own error. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  readonly trouble: StoreTrouble;
  /** No answer came, so the call may have been done all the same. */
  readonly mayBeDone: boolean;

  constructor(
    message: string,
    options?: ErrorOptions & { readonly mayBeDone?: boolean },
    trouble: StoreTrouble = "down",
  ) {
    super(message, options);
    this.trouble = trouble;
    this.mayBeDone = options?.mayBeDone === true;
  }
}

/** The account has as many of something as it may. Nothing was written. */
export class QuotaReached extends Error {
  override readonly name = "QuotaReached";
  readonly quota: QuotaName;

  constructor(quota: QuotaName) {
    super(`quota ${quota} reached`);
    this.quota = quota;
  }
}

/**
 * What a change was judged by (`read`) is not so any more: another process has changed it. Nothing was written; read it
 * again and judge anew.
 */
export class ChangedSince extends Error {
  override readonly name = "ChangedSince";
}

/** What an account has and may have. */
export interface AccountQuotas {
  /** Undefined: nothing was said of how much, not even usually. */
  readonly limits: Quotas | undefined;
  readonly own: Partial<Quotas>;
  readonly use: QuotaUse;
}

/** Identifiers (ids and aliases) that an account may hold: a number for each licence, and a number in any case. */
export interface MostIdentifiers {
  readonly perLicense: number;
  readonly least: number;
}

/**
 * Why a device can't be so. `exists`: an identifier is a device's already · `noLicense`: none of the account's is free
 * · `identifiers`: the account holds as many as it may.
 */
export type DeviceRefusal = "exists" | "noLicense" | "identifiers";

/** A device with another id, and the keys of the users whose device it is. */
export interface ChangedId {
  readonly device: Device;
  readonly users: readonly number[];
}

/** A device whose positions are not kept for ever. */
export interface RetainedDevice {
  readonly key: DeviceKey;
  readonly days: number;
}

/** What a device is called. */
export interface NamedDevice {
  readonly key: DeviceKey;
  readonly id: string;
  readonly name: string;
}

/** Registered devices. Conflicts are answers, not errors. */
export interface DeviceStore {
  /** `most`: what is asked of the account's identifiers; absent: nothing. */
  create(
    accountKey: number,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
  ): Promise<Device | DeviceRefusal>;
  find(id: string): Promise<Device | undefined>;
  findByKey(key: DeviceKey): Promise<Device | undefined>;
  /** The earliest expiry after now, of any device; undefined: none will expire. */
  nextExpiry(now: number): Promise<number | undefined>;
  /** Devices that expired after `since` and by `until`. */
  expiredBetween(since: number, until: number): Promise<readonly Device[]>;
  /** The device that is registered under one of these identifiers, as id or alias; the first that matches. */
  identify(ids: readonly string[]): Promise<Device | undefined>;
  /** All devices of an account, by id. */
  list(accountKey: number): Promise<readonly Device[]>;
  /** Those of an account that have not expired, by id. */
  page(accountKey: number, now: number, ask: PageAsk<string>): Promise<Page<Device>>;
  /** Those of the ids that are an account's and have not expired, by id. */
  some(accountKey: number, ids: readonly string[], now: number): Promise<readonly Device[]>;
  /** Those of the ids that are a device's of the account, expired or not. */
  existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** What devices with these keys are called; those that are gone are left out. */
  named(keys: readonly DeviceKey[]): Promise<readonly NamedDevice[]>;
  /**
   * `noLicense`: the change would reactivate an expired device and none is free. Identifiers are counted where the
   * change adds some. `read`: the device that the change was judged by; absent: whatever it is.
   */
  replace(
    key: DeviceKey,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
    read?: Device,
  ): Promise<Device | DeviceRefusal | "missing">;
  /**
   * As `replace`, with another id: the account's groups, users and rules that named the device by the old one name it
   * by the new one. How the device reported is forgotten, since another tracker reports from now on.
   */
  changeId(
    key: DeviceKey,
    fields: DeviceFields,
    now: number,
    most?: MostIdentifiers,
    read?: Device,
  ): Promise<ChangedId | DeviceRefusal | "missing">;
  /** Identifiers that an account's devices have, expired ones too. */
  identifiersUsed(accountKey: number): Promise<number>;
  /**
   * Devices of all accounts whose positions are not kept for ever, each with its days: up to `limit` of them after a
   * key, in the order of keys.
   */
  retained(after: DeviceKey, limit: number): Promise<readonly RetainedDevice[]>;
  /** For how many days positions of a device are kept. Undefined: for ever, or the device is gone. */
  daysOf(device: DeviceKey): Promise<number | undefined>;
  /** Devices of an account that have no days of their own: up to `limit` of them after a key, in the order of keys. */
  withoutOwnDays(accountKey: number, after: DeviceKey, limit: number): Promise<readonly DeviceKey[]>;
  /**
   * Records ways by which devices reported; of a way that is recorded already, what is given now counts. Devices that
   * are gone are left out.
   */
  spoke(ways: readonly { readonly device: DeviceKey; readonly way: SpokenWay }[]): Promise<void>;
  /** Removes the device with its history, commands, alerts, notices and counters. False: there was none. */
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
export type NewUser = Omit<User, "key" | "creation" | "modification" | "lastLogin" | "passwordSignsIn"> &
  Partial<Pick<User, "passwordSignsIn">>;

/**
 * What of a user a replacement sets: all but who it is, its key and its times. A password hash of undefined keeps the
 * one that is stored, and whether it signs in.
 */
export type UserFields = Omit<NewUser, "id" | "accountKey" | "owner" | "apiKeyHash" | "apiKeyId" | "passwordHash"> & {
  readonly passwordHash: string | null | undefined;
};

/** Users, and the counters of what they and their devices' readers used. */
export interface UserStore {
  create(user: NewUser, now: number): Promise<User | "emailInUse">;
  /** By e-mail address without regard to case. */
  findByEmail(email: string): Promise<User | undefined>;
  findByKey(key: number): Promise<User | undefined>;
  /** The account's first user. */
  findOwner(accountKey: number): Promise<User | undefined>;
  /** All users of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly User[]>;
  /** Of an account, in the order of their making. */
  page(accountKey: number, ask: PageAsk): Promise<Page<User>>;
  find(id: string): Promise<User | undefined>;
  /** `emailInUse`: the address is another user's, service-wide. `read`: see `DeviceStore.replace`. */
  replace(key: number, fields: UserFields, now: number, read?: User): Promise<User | "emailInUse" | "missing">;
  /** Removes the user with its sign-ins, second factor and counters. False: there was none. */
  remove(key: number): Promise<boolean>;
  setApiKey(
    key: number,
    apiKey: { readonly id: string; readonly hash: string } | null,
    now: number,
    read?: User,
  ): Promise<void>;
  /**
   * Sets a password that signs in, and changes nothing else. `read`: see `DeviceStore.replace`. False: the user is
   * gone.
   */
  setPassword(key: number, passwordHash: string, now: number, read?: User): Promise<boolean>;
  setLastLogin(key: number, now: number): Promise<void>;
  /** Adds to the counters; one commit for all. What is of a user or device that is gone is left out. */
  addUsage(users: readonly UsageDelta[], devices: readonly ResultsDelta[]): Promise<void>;
  usage(userKey: number, day: string): Promise<Usage>;
  /**
   * One bounded step of putting the counters of the days before one together; no sum changes. Looks at `limit` users
   * after that key; tells the key to go on after, undefined: those were all.
   */
  foldUsage(before: string, after: number, limit: number): Promise<number | undefined>;
  results(device: DeviceKey, day: string): Promise<number>;
}

/**
 * What an account is made of. Caps that are not given are the service's; positions are kept for ever unless days are
 * given.
 */
export type NewAccount = Omit<Account, "key" | "creation" | "caps" | "positionDays"> & {
  readonly caps?: AccountCaps;
  readonly positionDays?: number | null;
};

/**
 * What of an account a replacement sets. `quotas`: what is said of it alone, in place of what was; what these leave out
 * is as usual.
 */
export type AccountFields = Omit<NewAccount, "id"> & { readonly quotas?: Partial<Quotas> };

/** An account as it was read, with what is said of its quotas alone. */
export interface ReadAccount {
  readonly account: Account;
  readonly quotas: Partial<Quotas>;
}

/** Accounts, and what the whole service keeps. */
export interface AccountStore {
  /** Accounts in the order of their making. */
  list(): Promise<readonly Account[]>;
  page(ask: Pick<PageAsk, "after" | "limit">): Promise<Page<Account>>;
  find(key: number): Promise<Account | undefined>;
  create(account: NewAccount, now: number): Promise<Account>;
  /** The new account and its first user in one transaction, so that there is never one without the other. */
  createWithOwner(
    account: NewAccount,
    owner: Omit<NewUser, "accountKey" | "owner">,
    now: number,
  ): Promise<{ readonly account: Account; readonly owner: User } | "emailInUse">;
  findById(id: string): Promise<Account | undefined>;
  /** Caps, days and own quotas that are not given stay as they are. `read`: see `DeviceStore.replace`. */
  replace(key: number, fields: AccountFields, read?: ReadAccount): Promise<Account | undefined>;
  /** Licences in use at a moment: devices that have not expired. */
  licensesUsed(accountKey: number, now: number): Promise<number>;
  /** The same for every account that uses any, by its key: one question for a list of accounts. */
  licensesUsedByAccount(now: number): Promise<ReadonlyMap<number, number>>;
  /** What the accounts may have that nothing else is said of. */
  setUsualQuotas(quotas: Quotas): Promise<void>;
  /** What an account has, may have, and what of that is said of it alone. */
  quotas(accountKey: number): Promise<AccountQuotas>;
  /** A setting that is there already; undefined: it was never made. */
  findSetting(name: string): Promise<string | undefined>;
  /**
   * A setting of the whole service (the key that signs tokens); made by `make` when it is not there yet, atomically.
   */
  setting(name: string, make: () => string): Promise<string>;
}
