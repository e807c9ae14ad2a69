import type { Group } from "../model/group.ts";
import type { Page, PageAsk } from "./pages.ts";

/** What of a group a caller may set. */
export type GroupFields = Pick<Group, "name" | "description" | "devices">;

/** Groups of devices. */
export interface GroupStore {
  create(accountKey: number, id: string, fields: GroupFields, now: number): Promise<Group>;
  find(id: string): Promise<Group | undefined>;
  /** All groups of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly Group[]>;
  /** Of an account, in the order of their making; `named`: only those with this id or name. */
  page(accountKey: number, ask: PageAsk, named?: string): Promise<Page<Group>>;
  /** Those of the ids, in the order of their making. */
  some(accountKey: number, ids: readonly string[]): Promise<readonly Group[]>;
  /** Those of the ids that are a group's of the account. */
  existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Ids of the account's groups that have this device. */
  holding(accountKey: number, deviceId: string): Promise<ReadonlySet<string>>;
  /** `read`: see `DeviceStore.replace`. */
  replace(key: number, fields: GroupFields, now: number, read?: Group): Promise<Group | undefined>;
  /** False: there was none. */
  remove(key: number, read?: Group): Promise<boolean>;
}
