import { sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { migrate } from "../migrations/migrations.ts";
import { usualCommands, usualNotices } from "../opened.ts";
import { AccountRows } from "../rows/accounts.ts";
import { AlertRuleRows } from "../rows/alert-rules.ts";
import { AlertRows } from "../rows/alerts.ts";
import { CommandRows } from "../rows/commands.ts";
import { DailyRows } from "../rows/daily.ts";
import type { Removals } from "../rows/device-removal.ts";
import { DeviceRows } from "../rows/devices.ts";
import { GeofenceRows } from "../rows/geofences.ts";
import { GroupRows } from "../rows/groups.ts";
import type { Owner } from "../rows/leases.ts";
import { MuteRows } from "../rows/mutes.ts";
import { CrowdedNotices } from "../rows/notice-room.ts";
import { NoticeRows } from "../rows/notices.ts";
import { RecipientRows } from "../rows/recipients.ts";
import { RefusedRows } from "../rows/refused.ts";
import { SecondFactorRows } from "../rows/second-factors.ts";
import { ShareRows } from "../rows/shares.ts";
import { SignInRows } from "../rows/sign-ins.ts";
import { UserRows } from "../rows/users.ts";
import { type SecretOptions, unlock } from "../secrets/unlock.ts";
import { openVault, type Vault } from "../secrets/vault.ts";
import { alone } from "./alone.ts";
import { checkedAddress } from "./checks.ts";
import { PostgresTables, runTogether } from "./dialect.ts";
import { touch } from "./durable.ts";
import { engine } from "./engine.ts";
import { makePool } from "./pool.ts";
import { secretEngine } from "./secrets.ts";
import { type Times, usualTimes } from "./times.ts";
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
  /**
   * The run of the service: see `Order`. Rows can be changed only while it is the one that writes, and what others claimed is taken over, because their runs have ended. Unset: there is no
   * such check, and others may use the database at the same time, for tools and tests.
   */
  readonly service?: string;
  /** Unset: nobody deletes the positions of removed devices before the next start, for tools and tests. */
  readonly removals?: Removals;
}

/** All stores of a PostgreSQL database but that of positions, and what they are built on. */
export interface PostgresRows extends Omit<Store, "locations"> {
  readonly tables: PostgresTables;
  readonly vault: Vault;
  readonly crowded: CrowdedNotices;
}

const defaultConnections = 10;

/**
 * Opens the tables of a database and brings them up to date. Rejects, with nothing changed, with `DatabaseUnusable` if it can't be used, `StoreTooNew` if a newer program wrote it,
 * `SecretKeyUnusable` if its secrets can't be decrypted.
 */
export async function openPostgresRows(url: string, options: PostgresOptions): Promise<PostgresRows> {
  const { log, connections = defaultConnections, times = usualTimes, service } = options;
  const address = await checkedAddress(url, times);
  const vault = await bringUpToDate(address, times, options);
  const pool = makePool({ address, connections, times, log, ...(service !== undefined && { service }) });
  const tables = new PostgresTables(pool, times.statement);
  const crowded = new CrowdedNotices(options.noticesPerDevice ?? usualNotices);
  const owner = await ownerOf(service, tables);
  return {
    tables,
    vault,
    crowded,
    devices: new DeviceRows(tables, options.removals ?? { add() {}, doubt() {} }),
    users: new UserRows(tables),
    accounts: new AccountRows(tables, vault),
    groups: new GroupRows(tables),
    commands: new CommandRows(tables, options.commandsPerDevice ?? usualCommands, owner.name),
    daily: new DailyRows(tables),
    geofences: new GeofenceRows(tables),
    alertRules: new AlertRuleRows(tables, vault, log),
    alerts: new AlertRows(tables),
    notices: new NoticeRows(tables, { vault, crowded, together: runTogether(tables), owner }),
    refused: new RefusedRows(tables),
    recipients: new RecipientRows(tables),
    mutes: new MuteRows(tables),
    signIns: new SignInRows(tables),
    shares: new ShareRows(tables),
    secondFactors: new SecondFactorRows(tables, vault),
    // Fails unless a row can be written to the server's disk.
    check: async () => void (await sql.raw(touch).execute(tables)),
    close: () => tables.destroy(),
  };
}

/** A service took its locks before, so all other runs have ended. */
async function ownerOf(service: string | undefined, tables: PostgresTables): Promise<Owner> {
  if (service !== undefined) return { name: service, alone: true };
  const { rows } = await sql<{ name: string }>`select gen_random_uuid()::text as name`.execute(tables);
  return { name: rows[0]?.name ?? "", alone: false };
}

/** Migrations and the encryption of secrets may take long. They end if the server stops answering, or if another session does not let go of a table. */
async function bringUpToDate(address: ServerAddress, times: Times, options: PostgresOptions): Promise<Vault> {
  const { secrets, log } = options;
  const pool = makePool({ address, connections: 1, times, mayTakeLong: true, log });
  const tables = new PostgresTables(pool, times.statement);
  try {
    return await alone({ address, times, lost: () => pool.break() }, async () => {
      const settle = secrets && (await unlock(tables, secretEngine, secrets, log));
      await migrate(tables, engine);
      return (await settle?.()) ?? openVault;
    });
  } finally {
    await tables.destroy();
  }
}
