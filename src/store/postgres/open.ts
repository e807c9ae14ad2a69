import { sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import { migrate } from "../migrations/migrations.ts";
import { usualCommands, usualNotices, usualRefusedBytes } from "../opened.ts";
import type { Removals } from "../rows/device-removal.ts";
import type { Fence } from "../rows/follow.ts";
import { type RowStores, rowStores } from "../rows/index.ts";
import type { Owner } from "../rows/leases.ts";
import { type SecretOptions, unlock } from "../secrets/unlock.ts";
import { openVault, type Vault } from "../secrets/vault.ts";
import { alone } from "./alone.ts";
import { checkedAddress } from "./checks.ts";
import { PostgresTables, runTogether } from "./dialect.ts";
import { touch } from "./durable.ts";
import { engine } from "./engine.ts";
import { makePool } from "./pool.ts";
import { hasEnded, makeProcessTables } from "./process-tables.ts";
import type { Run } from "./run.ts";
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
  /** Bytes of refused reports that each device may have. Unset: 16 MiB. */
  readonly refusedBytes?: number;
  /** Keys of the secrets; without them none is sealed: for tools and tests. */
  readonly secrets?: SecretOptions;
  /** A move fills the tables. No service opens them until that ends. */
  readonly forMove?: boolean;
  /** How long things may take. Unset: `usualTimes`. */
  readonly times?: Times;
  /** The run of the service. Unset: a name of its own, for tools and tests. */
  readonly run?: Run;
  /** Rejects in a transaction of the follower where this process must not follow any longer. */
  readonly fence?: Fence;
  /** Unset: nobody deletes the positions of removed devices before the next start, for tools and tests. */
  readonly removals?: Removals;
}

/** All stores of a PostgreSQL database but that of positions, and what they are built on. */
export interface PostgresRows extends RowStores {
  readonly tables: PostgresTables;
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const defaultConnections = 10;

/**
 * Opens the tables of a database and brings them up to date. Rejects, with nothing changed, with `DatabaseUnusable` if
 * it can't be used, `StoreTooNew` if a newer program wrote it, `SecretKeyUnusable` if its secrets can't be decrypted.
 */
export async function openPostgresRows(url: string, options: PostgresOptions): Promise<PostgresRows> {
  const { log, connections = defaultConnections, times = usualTimes, run, fence } = options;
  const address = await checkedAddress(url, times);
  const vault = await bringUpToDate(address, times, options);
  const pool = makePool({ address, connections, times, log, ...(run !== undefined && { run }) });
  const tables = new PostgresTables(pool, times.statement);
  const owner = await ownerOf(run, tables);
  const rows = rowStores({
    ...{ database: tables, vault, log, owner },
    ...(fence !== undefined && { fence }),
    removals: options.removals ?? { add() {}, doubt() {} },
    together: runTogether(tables),
    refusedBytes: options.refusedBytes ?? usualRefusedBytes,
    commandsPerDevice: options.commandsPerDevice ?? usualCommands,
    noticesPerDevice: options.noticesPerDevice ?? usualNotices,
  });
  return {
    ...rows,
    tables,
    // Fails unless a row can be written to the server's disk.
    check: async () => void (await sql.raw(touch).execute(tables)),
    close: () => tables.destroy(),
  };
}

async function ownerOf(run: Run | undefined, tables: PostgresTables): Promise<Owner> {
  if (run !== undefined) return { name: run.name, hasEnded };
  const { rows } = await sql<{ name: string }>`select gen_random_uuid()::text as name`.execute(tables);
  return { name: rows[0]?.name ?? "", hasEnded: sql`false` };
}

/**
 * Migrations and the encryption of secrets may take long. They end if the server stops answering, or if another session
 * does not let go of a table.
 */
async function bringUpToDate(address: ServerAddress, times: Times, options: PostgresOptions): Promise<Vault> {
  const { secrets, log, forMove } = options;
  const pool = makePool({ address, connections: 1, times, mayTakeLong: true, log });
  const tables = new PostgresTables(pool, times.statement);
  try {
    return await alone({ address, times, lost: () => pool.break() }, async () => {
      const settle = secrets && (await unlock(tables, secretEngine, secrets, log));
      await migrate(tables, engine, forMove);
      await makeProcessTables(tables);
      return (await settle?.()) ?? openVault;
    });
  } finally {
    await tables.destroy();
  }
}
