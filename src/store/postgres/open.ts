import pg from "pg";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { migrate } from "../migrations/migrations.ts";
import { AccountRows } from "../rows/accounts.ts";
import { AlertRuleRows } from "../rows/alert-rules.ts";
import { AlertRows } from "../rows/alerts.ts";
import { CommandRows } from "../rows/commands.ts";
import { DailyRows } from "../rows/daily.ts";
import { DeviceRows } from "../rows/devices.ts";
import { GeofenceRows } from "../rows/geofences.ts";
import { GroupRows } from "../rows/groups.ts";
import { CrowdedNotices } from "../rows/notice-room.ts";
import { NoticeRows } from "../rows/notices.ts";
import { RecipientRows } from "../rows/recipients.ts";
import { RefusedRows } from "../rows/refused.ts";
import { UserRows } from "../rows/users.ts";
import { type SecretOptions, unlock } from "../secrets/unlock.ts";
import { openVault, type Vault } from "../secrets/vault.ts";
import { checkedAddress } from "./checks.ts";
import { PostgresTables, runTogether } from "./dialect.ts";
import { engine } from "./engine.ts";
import { storeError } from "./errors.ts";
import { makePool, type Times, usualTimes } from "./pool.ts";
import { secretEngine } from "./secrets.ts";
import type { ServerAddress } from "./url.ts";

/** How to open the tables of a PostgreSQL database. */
export interface PostgresOptions {
  readonly log: Log;
  /** Connections at once, at most. Unset: 10. */
  readonly connections?: number;
  /** Records of commands that each device may have. Unset: 1,000. */
  readonly commandsPerDevice?: number;
  /** Notices that each device may have. Unset: 10,000. */
  readonly noticesPerDevice?: number;
  /** Keys of the secrets; without them none is sealed: for tools and tests. */
  readonly secrets?: SecretOptions;
  /** How long things may take. Unset: `usualTimes`. */
  readonly times?: Times;
  /** Called with each device whose removal is on disk, so that its positions are deleted too. */
  readonly removed?: (device: DeviceKey) => void;
}

/** All stores of a PostgreSQL database but that of positions, and what they are built on. */
export interface PostgresRows extends Omit<Store, "locations"> {
  readonly tables: PostgresTables;
  readonly vault: Vault;
  readonly crowded: CrowdedNotices;
}

const defaultConnections = 10;
const defaultCommands = 1000;
const defaultNotices = 10_000;

/**
 * Opens the tables of a database and brings them up to date. Rejects, with nothing changed, with `DatabaseUnusable` if it can't be used, `StoreTooNew` if a newer program wrote it,
 * `SecretKeyUnusable` if its secrets can't be decrypted.
 */
export async function openPostgresRows(url: string, options: PostgresOptions): Promise<PostgresRows> {
  const { log, connections = defaultConnections, times = usualTimes } = options;
  const address = await checkedAddress(url);
  const vault = await alone(address, () => bringUpToDate(address, options));
  const tables = new PostgresTables(makePool(address, connections, times, log), times.statement);
  const crowded = new CrowdedNotices(options.noticesPerDevice ?? defaultNotices);
  return {
    tables,
    vault,
    crowded,
    devices: new DeviceRows(tables, options.removed ?? (() => {})),
    users: new UserRows(tables),
    accounts: new AccountRows(tables, vault),
    groups: new GroupRows(tables),
    commands: new CommandRows(tables, options.commandsPerDevice ?? defaultCommands),
    daily: new DailyRows(tables),
    geofences: new GeofenceRows(tables),
    alertRules: new AlertRuleRows(tables, vault, log),
    alerts: new AlertRows(tables),
    notices: new NoticeRows(tables, vault, crowded, runTogether(tables)),
    refused: new RefusedRows(tables),
    recipients: new RecipientRows(tables),
    check: () => touch(tables),
    close: () => tables.destroy(),
  };
}

/** Number of the lock that services hold while they open a database: "waybeam" in ASCII. */
const openingLock = "33602696198316397";

/** Runs `work` while no other service opens the database. */
async function alone<T>(address: ServerAddress, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...address, keepAlive: true, connectionTimeoutMillis: usualTimes.connect });
  client.on("error", () => {});
  try {
    await takeLock(client);
    return await work();
  } finally {
    // The lock ends with its connection.
    await client.end();
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  try {
    await client.connect();
    await client.query("select pg_advisory_lock($1)", [openingLock]);
  } catch (error) {
    throw storeError(error, "asked");
  }
}

/** No time limits: migrations and the encryption of secrets may take long. */
async function bringUpToDate(address: ServerAddress, { secrets, log }: PostgresOptions): Promise<Vault> {
  const tables = new PostgresTables(makePool(address, 1, undefined, log), usualTimes.statement);
  try {
    const settle = secrets && (await unlock(tables, secretEngine, secrets, log));
    await migrate(tables, engine);
    return (await settle?.()) ?? openVault;
  } finally {
    await tables.destroy();
  }
}

/** Fails unless a row can be written to the server's disk. */
async function touch(tables: PostgresTables): Promise<void> {
  await tables
    .insertInto("setting")
    .values({ name: "check", value: "0" })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: "0" }))
    .execute();
}
