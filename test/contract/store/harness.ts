import type { Account, User } from "../../../src/model/account.ts";
import type { Command } from "../../../src/model/command.ts";
import type { Device, DeviceFields } from "../../../src/model/device.ts";
import { noIdentityRules } from "../../../src/model/device.ts";
import type { NewCommand } from "../../../src/ports/command-store.ts";
import type { NewUser, Store } from "../../../src/ports/store.ts";
import { newUserOf } from "../../support/users.ts";

/** One place where an engine keeps data. */
export interface StoreHarness {
  /** Opens a store on the data that earlier ones of this harness left; they are closed before. */
  open(): Promise<Store>;
  /** Throws the data away. */
  dispose(): Promise<void>;
}

/** A moment of the tests: 2026-11-21T00:00:00Z. */
export const now = Date.UTC(2026, 10, 21);
/** Its UTC day. */
export const today = "2026-11-21";

let made = 0;

/** A text that no other test uses. */
export function unique(prefix: string): string {
  made++;
  return `${prefix}${made}`;
}

export function makeAccount(store: Pick<Store, "accounts">, licenses = 1000): Promise<Account> {
  return store.accounts.create(
    { id: unique("account-"), name: unique("account "), timeZone: "America/Bogota", licenses, language: "en" },
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
    identity: noIdentityRules,
    positionDays: null,
    timeOffset: 0,
    speedUnit: null,
    ...changes,
  };
}

/** A registered device; fails where the store refuses. */
export async function makeDevice(
  store: Pick<Store, "devices">,
  accountKey: number,
  changes: Partial<DeviceFields> = {},
): Promise<Device> {
  const device = await store.devices.create(accountKey, deviceFields(changes), now);
  if (typeof device === "string") throw new Error(`device refused: ${device}`);
  return device;
}

export function userFields(accountKey: number, changes: Partial<NewUser> = {}): NewUser {
  return newUserOf({ id: unique("user-"), email: `${unique("ana")}@example.org`, accountKey, ...changes });
}

/** A user; fails where the store refuses. */
export async function makeUser(
  store: Pick<Store, "users">,
  accountKey: number,
  changes: Partial<NewUser> = {},
): Promise<User> {
  const user = await store.users.create(userFields(accountKey, changes), now);
  if (typeof user === "string") throw new Error(`user refused: ${user}`);
  return user;
}

export function newCommand(device: number, changes: Partial<NewCommand> = {}): NewCommand {
  return {
    id: unique("command-"),
    device,
    userKey: 1,
    userName: "ana@example.org",
    channel: "data",
    format: "Text",
    command: "DWXX#",
    encode: false,
    state: "queued",
    creation: now,
    expires: now + 1000,
    sentAt: null,
    finishedAt: null,
    reply: null,
    failure: null,
    idempotencyKey: null,
    ...changes,
  };
}

/** A recorded command; fails where the device is gone or the command was there. */
export async function makeCommand(
  store: Pick<Store, "commands">,
  device: number,
  changes: Partial<NewCommand> = {},
): Promise<Command> {
  const made = await store.commands.create(newCommand(device, changes));
  if (typeof made === "string" || made.existing) throw new Error("the command was not made");
  return made.command;
}

/** Makes many, some at a time: a store with few connections lets nobody wait for ever. */
export async function makeMany<T>(count: number, make: () => Promise<T>): Promise<readonly T[]> {
  const made: T[] = [];
  while (made.length < count)
    made.push(...(await Promise.all(Array.from({ length: Math.min(50, count - made.length) }, make))));
  return made;
}
