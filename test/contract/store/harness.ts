import type { Account } from "../../../src/model/account.ts";
import type { Device, DeviceFields } from "../../../src/model/device.ts";
import type { NewUser, Store } from "../../../src/ports/store.ts";

/** One place where an engine keeps data. */
export interface StoreHarness {
  /** Opens a store on the data that earlier ones of this harness left; they are closed before. */
  open(): Promise<Store>;
  /** Throws the data away. */
  dispose(): Promise<void>;
}

/** A moment of the tests: 2026-11-21T00:00:00Z. */
export const now = Date.UTC(2026, 10, 21);

let made = 0;

/** A text that no other test uses. */
export function unique(prefix: string): string {
  made++;
  return `${prefix}${made}`;
}

export function makeAccount(store: Store, licenses = 1000): Promise<Account> {
  return store.accounts.create(
    { id: unique("account-"), name: unique("account "), timeZone: "America/Bogota", licenses },
    now,
  );
}

export function deviceFields(changes: Partial<DeviceFields> = {}): DeviceFields {
  return {
    id: unique("device-"),
    aliases: [],
    name: "Truck",
    description: null,
    min: null,
    tags: {},
    expires: null,
    dailyEmailLimit: 50,
    dailySmsLimit: 10,
    odometerStart: 0,
    ...changes,
  };
}

/** A registered device; fails where the store refuses. */
export async function makeDevice(
  store: Store,
  accountKey: number,
  changes: Partial<DeviceFields> = {},
): Promise<Device> {
  const device = await store.devices.create(accountKey, deviceFields(changes), now);
  if (typeof device === "string") throw new Error(`device refused: ${device}`);
  return device;
}

export function userFields(accountKey: number, changes: Partial<NewUser> = {}): NewUser {
  return {
    id: unique("user-"),
    accountKey,
    owner: false,
    name: "Ana",
    email: `${unique("ana")}@example.org`,
    country: "CO",
    timeZone: "America/Bogota",
    description: null,
    message: null,
    disabled: false,
    disabledMessage: null,
    tags: {},
    privileges: [],
    group: null,
    deviceId: null,
    adminDevices: null,
    from: null,
    expires: null,
    passwordHash: null,
    apiKeyHash: null,
    apiKeyId: null,
    ...changes,
  };
}
