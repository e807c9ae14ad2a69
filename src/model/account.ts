import type { AccountCaps } from "./caps.ts";
import type { Language } from "./language.ts";

/** A tenant: its users and devices are seen by nobody else. */
export interface Account {
  readonly key: number;
  /** Public identifier (UUID). */
  readonly id: string;
  readonly name: string;
  /** IANA name; its midnight starts the account's day. */
  readonly timeZone: string;
  readonly licenses: number;
  /** Of its alerts, where a recipient has none of its own. */
  readonly language: Language;
  readonly creation: number;
  readonly caps: AccountCaps;
  /** For how many days its devices' positions are kept; null: for ever. */
  readonly positionDays: number | null;
}

/** Privileges that have a meaning to the service; a user may hold any other strings too. */
export const privilegeNames = [
  "admin",
  "read",
  "write",
  "sendCommands",
  "sendSmsCommands",
  "sendSmsAlerts",
  "execute",
] as const;

/** A user of an account. `id` is public, `key` is the store's. */
export interface User {
  readonly key: number;
  readonly id: string;
  readonly accountKey: number;
  /** The account's first user: can't be deleted or lose `admin`. */
  readonly owner: boolean;
  readonly name: string;
  readonly email: string;
  readonly country: string;
  readonly timeZone: string;
  readonly description: string | null;
  readonly message: string | null;
  readonly disabled: boolean;
  readonly disabledMessage: string | null;
  /** Null: not set. */
  readonly tags: { readonly [name: string]: string };
  /** Null: not set, so none. `holds` asks for one. */
  readonly privileges: readonly string[] | null;
  readonly group: string | null;
  readonly deviceId: string | null;
  readonly adminDevices: number | null;
  /** Validity window, epoch ms. */
  readonly from: number | null;
  readonly expires: number | null;
  /** argon2id in PHC form; null: has none. */
  readonly passwordHash: string | null;
  /** Whether the password is a way in: who set it showed more than a token. */
  readonly passwordSignsIn: boolean;
  /** SHA-256 of the API key, hex; null: has none. */
  readonly apiKeyHash: string | null;
  /** Names the key; tokens carry it, so replacing the key ends them. */
  readonly apiKeyId: string | null;
  readonly creation: number;
  readonly modification: number;
  readonly lastLogin: number | null;
}

/** Whether a moment, epoch ms, lies outside of the user's validity window, which ends just before `expires`. */
export function isOutsideWindow({ from, expires }: Pick<User, "from" | "expires">, now: number): boolean {
  return (from !== null && now < from) || (expires !== null && now >= expires);
}

/** Whether the user was given this privilege. */
export function holds(user: Pick<User, "privileges">, privilege: (typeof privilegeNames)[number]): boolean {
  return user.privileges?.includes(privilege) === true;
}

/** Whether the user may have alerts told by SMS (decisions page, "Users"). */
export function maySendSmsAlerts(user: Pick<User, "privileges">): boolean {
  return holds(user, "admin") || holds(user, "sendSmsAlerts");
}
