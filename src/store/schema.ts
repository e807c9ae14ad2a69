import type { Generated, Insertable, Selectable } from "kysely";
import type { CommandChannel, CommandFormat, CommandState } from "../model/command.ts";
import type { Language } from "../model/language.ts";
import type { RecipientChannel, RecipientState } from "../model/recipient.ts";
import type { AlertTable, MuteTable, NoticePauseTable, NoticeTable } from "./schema-alerts.ts";
import type { AccountQuotaTable, AccountUseTable, RuleTargetTable, RuleZoneTable } from "./schema-quotas.ts";
import type { ShareTable } from "./schema-shares.ts";
import type { SecondFactorTable, SignInTable } from "./schema-sign-ins.ts";

/*
 * The tables of both engines, as Kysely sees them; those of positions are in `positions`. Times are epoch ms and keys
 * are numbers in 64-bit columns; truth values are 0 and 1; lists and maps are JSON text.
 */

/** Tenants. */
export interface AccountTable {
  key: Generated<number>;
  id: string;
  name: string;
  time_zone: string;
  licenses: number;
  language: Language;
  creation: number;
  daily_emails: number | null;
  daily_sms: number | null;
  device_daily_emails: number | null;
  device_daily_sms: number | null;
  unconfirmed_recipients: number | null;
  /** For how many days its devices' positions are kept. */
  position_days: number | null;
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
  password_signs_in: Generated<number>;
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
  /** Lists of what the device's identity is bound to. Empty when it is bound to nothing. */
  protocols: Generated<string>;
  networks: Generated<string>;
  secret_hash: string | null;
  /** For how many days its positions are kept, in place of the account's days. */
  position_days: number | null;
  /** Seconds. */
  time_offset: Generated<number>;
  speed_unit: string | null;
  /** The ways by which it reported. */
  spoken: Generated<string>;
  creation: number;
  modification: number;
}

/** Ids and aliases in one place: an identifier leads to one device, service-wide. */
export interface DeviceIdentifierTable {
  identifier: string;
  device: number;
}

/** Sums over a device's positions: whole millimetres, and milliseconds that each input was active. */
interface Sums {
  odometer_mm: Generated<number>;
  sensor1_ms: Generated<number>;
  sensor2_ms: Generated<number>;
  sensor3_ms: Generated<number>;
  sensor4_ms: Generated<number>;
}

/**
 * How far each device is followed: one row, see `rows/follow-codec.ts`. The sums are those of days that were deleted.
 */
export interface DeviceHeadTable extends Sums {
  device: number;
  data: Uint8Array;
  /** How many days have late records. */
  late: Generated<number>;
}

/** What follows from the positions of a device's UTC day that has ended: its sums, and the rest as bytes. */
export interface DeviceDayTable extends Sums {
  device: number;
  /** Days since 1970. */
  day: number;
  records: number;
  /** Event time of the last one. */
  last: number;
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

/** What each device has of refused reports. */
export interface RefusedRoomTable {
  device: number;
  /** Of their texts, in UTF-8. */
  bytes: number;
  /**
   * Reports that were deleted before their age, since there were too many bytes, and when the newest of them had
   * arrived.
   */
  dropped: number;
  dropped_until: number | null;
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

/**
 * Commands and what became of them. Those of a removed device are deleted by and by; every question leaves them out at
 * once.
 */
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
  /** Unique for a user and a device where there is one. */
  idempotency_key: string | null;
  /**
   * The run of a service that sent it last, and so records what becomes of it. Empty: none, or one of an older version.
   */
  owner: Generated<string>;
}

/** One SMS of a command. */
export interface CommandPartTable {
  command: number;
  /** Its place in the command, from 0. */
  part: number;
  /** What the gateway calls it; null where it said nothing. */
  sms_id: string | null;
  /** 1 when it was delivered, 0 when it never will be, null when nothing is known. */
  delivered: number | null;
}

/** What was sent from a device in a day of its account. */
export interface DeviceSentTable {
  device: number;
  day: string;
  sms: number;
  email: number;
}

/** What all devices of an account sent in a day of it, those that are gone too. */
export interface AccountSentTable {
  account: number;
  day: string;
  sms: number;
  email: number;
}

/** People outside of accounts whom rules name. */
export interface RecipientTable {
  key: Generated<number>;
  id: string;
  account: number;
  channel: RecipientChannel;
  /** In the form in which addresses are compared. */
  address: string;
  state: RecipientState;
  /** The code that was sent last, hashed with a key of the service. Null when no code is valid any longer. */
  code_hash: string | null;
  code_expires: number | null;
  /** Wrong codes since it was sent. */
  wrong: number;
  /** UTC day of the last asking, and how often it was asked on it. */
  asked_day: string | null;
  asked: number;
  creation: number;
  modification: number;
}

/** Zones of accounts. */
export interface GeofenceTable {
  key: Generated<number>;
  id: string;
  account: number;
  name: string;
  description: string | null;
  zone: string;
  /** How many the zone has. */
  positions: number;
  creation: number;
  modification: number;
}

/** Rules of accounts. */
export interface AlertRuleTable {
  key: Generated<number>;
  id: string;
  account: number;
  /** Who changed it last. */
  user: number;
  revision: number;
  /** All that a caller sets. */
  definition: string;
  /** How many it calls; they may be sealed in the definition. */
  webhooks: Generated<number>;
  creation: number;
  modification: number;
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
  device_head: DeviceHeadTable;
  device_day: DeviceDayTable;
  refused: RefusedTable;
  refused_room: RefusedRoomTable;
  purge: PurgeTable;
  user_usage: UserUsageTable;
  device_results: DeviceResultsTable;
  device_group: DeviceGroupTable;
  command: CommandTable;
  command_part: CommandPartTable;
  device_sent: DeviceSentTable;
  account_sent: AccountSentTable;
  recipient: RecipientTable;
  geofence: GeofenceTable;
  alert_rule: AlertRuleTable;
  alert: AlertTable;
  notice: NoticeTable;
  notice_pause: NoticePauseTable;
  mute: MuteTable;
  account_use: AccountUseTable;
  account_quota: AccountQuotaTable;
  rule_target: RuleTargetTable;
  rule_zone: RuleZoneTable;
  sign_in: SignInTable;
  second_factor: SecondFactorTable;
  share: ShareTable;
  setting: SettingTable;
  migration: MigrationTable;
}

/** An account as read. */
export type AccountRow = Selectable<AccountTable>;
/** A user as read. */
export type UserRow = Selectable<UserTable>;
/** A user as written. */
export type NewUserRow = Insertable<UserTable>;
/** A recipient as read. */
export type RecipientRow = Selectable<RecipientTable>;
/** A device as read. */
export type DeviceRow = Selectable<DeviceTable>;
/** A group as read. */
export type GroupRow = Selectable<DeviceGroupTable>;
/** A command as read. */
export type CommandRow = Selectable<CommandTable>;
/** A command as written. */
export type NewCommandRow = Insertable<CommandTable>;
/** A zone as read. */
export type GeofenceRow = Selectable<GeofenceTable>;
/** A rule as read. */
export type AlertRuleRow = Selectable<AlertRuleTable>;
