import type { Generated, Insertable, Selectable } from "kysely";
import type { CommandChannel, CommandFormat, CommandState } from "../model/command.ts";

/*
 * The tables of both engines, as Kysely sees them. Times are epoch ms and keys are numbers in 64-bit columns; truth values are 0 and 1;
 * lists and maps are JSON text. The columns of `tail` and `device_state` that only an engine's own code touches are there too,
 * so that this page tells all there is.
 */

/** Tenants. */
export interface AccountTable {
  key: Generated<number>;
  id: string;
  name: string;
  time_zone: string;
  licenses: number;
  creation: number;
}

/** Users of all accounts. */
export interface UserTable {
  key: Generated<number>;
  id: string;
  account: number;
  owner: number;
  name: string;
  email: string;
  /** The address in lower case: unique, and what is searched for. */
  email_lower: string;
  country: string;
  time_zone: string;
  description: string | null;
  message: string | null;
  disabled: number;
  disabled_message: string | null;
  tags: string;
  privileges: string;
  group_name: string | null;
  device_id: string | null;
  admin_devices: number | null;
  valid_from: number | null;
  expires: number | null;
  password_hash: string | null;
  api_key_hash: string | null;
  api_key_id: string | null;
  creation: number;
  modification: number;
  last_login: number | null;
}

/** Registered devices. */
export interface DeviceTable {
  key: Generated<number>;
  account: number;
  id: string;
  /** In the order given; `device_identifier` keeps them unique. */
  aliases: string;
  name: string;
  description: string | null;
  min: string | null;
  tags: string;
  expires: number | null;
  daily_email_limit: number;
  daily_sms_limit: number;
  odometer_start: number;
  creation: number;
  modification: number;
}

/** Ids and aliases in one place: an identifier leads to one device, service-wide. */
export interface DeviceIdentifierTable {
  identifier: string;
  device: number;
}

/** One row for each device, made with it, rewritten by each commit. */
export interface DeviceStateTable {
  device: number;
  version: number;
  data: Uint8Array;
}

/** Locations in the order of their commits: a row holds one device's records of one commit, packed. */
export interface TailTable {
  seq: number;
  device: number;
  first: number;
  last: number;
  count: number;
  data: Uint8Array;
}

/** Reports that are kept as evidence, a bounded number of each device. */
export interface RefusedTable {
  seq: Generated<number>;
  device: number;
  received_at: number;
  time: number;
  cause: string;
  report: string;
}

/** Devices that are gone and whose records are still to be deleted. */
export interface PurgeTable {
  device: number;
}

/** Requests of a user on a UTC day. */
export interface UserUsageTable {
  user: number;
  day: string;
  requests: number;
}

/** Records read of a device on a UTC day. */
export interface DeviceResultsTable {
  device: number;
  day: string;
  results: number;
}

/** Groups of devices. */
export interface DeviceGroupTable {
  key: Generated<number>;
  id: string;
  account: number;
  name: string;
  description: string | null;
  /** Ids in the order given, registered or not. */
  devices: string;
  creation: number;
  last_modified: number;
}

/** Commands and what became of them. Those of a removed device are deleted by and by; every question leaves them out at once. */
export interface CommandTable {
  key: Generated<number>;
  id: string;
  device: number;
  user: number;
  user_name: string;
  channel: CommandChannel;
  format: CommandFormat;
  command: string;
  encode: number;
  state: CommandState;
  creation: number;
  expires: number;
  sent_at: number | null;
  finished_at: number | null;
  reply: string | null;
  failure: string | null;
  sms_id: string | null;
  /** Unique for a user and a device where there is one. */
  idempotency_key: string | null;
}

/** What was sent from a device in a day of its account. */
export interface DeviceSentTable {
  device: number;
  day: string;
  sms: number;
  email: number;
}

/** Settings of the whole service. */
export interface SettingTable {
  name: string;
  value: string;
}

/** Migrations that have been run. */
export interface MigrationTable {
  number: number;
  name: string;
}

/** All tables by name. */
export interface Schema {
  account: AccountTable;
  user: UserTable;
  device: DeviceTable;
  device_identifier: DeviceIdentifierTable;
  device_state: DeviceStateTable;
  tail: TailTable;
  refused: RefusedTable;
  purge: PurgeTable;
  user_usage: UserUsageTable;
  device_results: DeviceResultsTable;
  device_group: DeviceGroupTable;
  command: CommandTable;
  device_sent: DeviceSentTable;
  setting: SettingTable;
  migration: MigrationTable;
}

/** An account as read. */
export type AccountRow = Selectable<AccountTable>;
/** A user as read. */
export type UserRow = Selectable<UserTable>;
/** A user as written. */
export type NewUserRow = Insertable<UserTable>;
/** A device as read. */
export type DeviceRow = Selectable<DeviceTable>;
/** A group as read. */
export type GroupRow = Selectable<DeviceGroupTable>;
/** A command as read. */
export type CommandRow = Selectable<CommandTable>;
/** A command as written. */
export type NewCommandRow = Insertable<CommandTable>;
