import { join } from "node:path";
import { Kysely, sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import { finishRestore } from "../backup/placing.ts";
import { migrate } from "../migrations/migrations.ts";
import { type OpenedStore, usualCommands, usualNotices, usualRefusedBytes } from "../opened.ts";
import { openSqlitePositions, type SqlitePositions } from "../positions/sqlite/open.ts";
import { RemovedDevices } from "../removal/removed-devices.ts";
import { rowStores } from "../rows/index.ts";
import type { Owner } from "../rows/leases.ts";
import type { Schema } from "../schema.ts";
import { type SecretOptions, unlock } from "../secrets/unlock.ts";
import { openVault } from "../secrets/vault.ts";
import { Alone } from "./alone.ts";
import { checkBeforeOpening } from "./before-opening.ts";
import { type DialectParts, runTogether, WorkerDialect } from "./dialect.ts";
import { engine } from "./engine.ts";
import { checkTogether, databaseOf, makeFolder, openFailure, positionsOf } from "./folder.ts";
import { waitForFolder } from "./lock.ts";
import type { SqliteReaderCalls, SqliteWriterCalls } from "./messages.ts";
import { checkPair, makePair } from "./pair.ts";
import { closeToOthers, makePrivate, tellOpen } from "./private-files.ts";
import { secretEngine } from "./secrets.ts";
import { Mutex } from "./workers/mutex.ts";
import { WorkerLink } from "./workers/worker-link.ts";

/** Where and how to open the embedded store. */
export interface SqliteStoreOptions {
  /** The data folder; made if it is not there, readable by its owner only. */
  readonly directory: string;
  /** Bytes of refused reports that each device may have. Unset: 16 MiB. */
  readonly refusedBytes?: number;
  /** Records of commands that each device may have. Unset: 1,000. */
  readonly commandsPerDevice?: number;
  /** Notices that each device may have. Unset: 10,000. */
  readonly noticesPerDevice?: number;
  /** See `SqlitePositionsOptions`. */
  readonly packFromBytes?: number;
  readonly mostLogBytes?: number;
  readonly log: Log;
  /** Number of this process. Another one that wants the same folder is told it. */
  readonly pid: number;
  /** The user that the process runs as. Unset: nothing checks who else can read the files. */
  readonly uid?: number | undefined;
  /** How the secrets are encrypted. Unset, for tools and tests: they are not. */
  readonly secrets?: SecretOptions;
  /** A move fills the folder, which may have keys and credentials of a service. No service opens it until that ends. */
  readonly forMove?: boolean;
}

/** Workers run the same kind of code as this file: TypeScript in a checkout, or the built JavaScript. */
const suffix = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

function worker(name: string, heapMb: number) {
  return { name: `store ${name}`, file: new URL(`./${name}${suffix}`, import.meta.url), heapMb };
}

/**
 * Opens the embedded store of a data folder: locks the folder, brings the tables up to date, and reads which positions
 * are in the log. Rejects with `DataFolderInUse` if another process has it, `StoreTooNew` if a newer program wrote it,
 * `DataFolderUnusable` if it or a file in it can't be used.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { directory, log, pid, uid, secrets, forMove = false } = options;
  makeFolder(directory);
  const lock = await waitForFolder(directory, pid);
  // The file that a failure is about.
  let present = "waybeam.db";
  try {
    finishRestore(directory);
    checkBeforeOpening(databaseOf(directory), secrets?.file);
    checkTogether(directory, forMove);
    present = "positions.db";
    checkPair(directory);
    makePrivate(databaseOf(directory));
    makePrivate(positionsOf(directory));
    makePair(directory);
  } catch (error) {
    lock.release();
    throw openFailure(error, directory, present);
  }
  const file = join(directory, "waybeam.db");
  // The heaps: a writer holds nothing between commits; a reader holds one list.
  const writer = new WorkerLink<SqliteWriterCalls>(worker("writer", 64), file, log);
  const reader = new WorkerLink<SqliteReaderCalls>(worker("reader", 256), file, log);
  let positions: SqlitePositions | undefined;
  const turns = new Mutex();
  const close = async () => {
    await positions?.close();
    await reader.close(() => reader.call("close", null));
    // After the reader, so that the writer moves SQLite's own log into the database.
    await turns.run(() => writer.close(() => writer.call("close", null)));
    lock.release();
  };
  try {
    present = "waybeam.db";
    const opened = await openRows({ writer, reader, turns }, options);
    present = "positions.db";
    positions = await openSqlitePositions({ ...options, file: positionsOf(directory) });
    const store = await assemble(opened, { writer, reader }, positions, options, close);
    // Now that the folder is known to be the service's own.
    closeToOthers(directory, uid, log);
    if (secrets !== undefined && uid !== undefined) tellOpen(secrets.file, log);
    return store;
  } catch (error) {
    await close();
    throw openFailure(error, directory, present);
  }
}

/** Opens the tables by the writer, which also creates the file; a reader opens it when all tables are there. */
async function openRows(parts: DialectParts, { log, secrets, forMove }: SqliteStoreOptions) {
  const database = new Kysely<Schema>({ dialect: new WorkerDialect(parts) });
  const settle = secrets && (await unlock(database, secretEngine, secrets, log));
  await migrate(database, engine, forMove);
  const vault = (await settle?.()) ?? openVault;
  return { database, vault, together: runTogether(parts), owner: await makeOwner(database) };
}

/** One process has the folder. */
async function makeOwner(database: Kysely<Schema>): Promise<Owner> {
  const { rows } = await sql<{ name: string }>`select lower(hex(randomblob(16))) as name`.execute(database);
  return { name: rows[0]?.name ?? "", hasEnded: sql`true` };
}

async function assemble(
  opened: Awaited<ReturnType<typeof openRows>>,
  { writer, reader }: Pick<DialectParts, "writer" | "reader">,
  positions: SqlitePositions,
  options: SqliteStoreOptions,
  close: () => Promise<void>,
): Promise<OpenedStore> {
  const { log, refusedBytes = usualRefusedBytes } = options;
  const removed = new RemovedDevices({ database: opened.database, positions, log });
  const rows = rowStores({
    ...opened,
    ...{ log, refusedBytes, removals: removed },
    commandsPerDevice: options.commandsPerDevice ?? usualCommands,
    noticesPerDevice: options.noticesPerDevice ?? usualNotices,
  });
  await removed.resume();
  return {
    ...rows,
    positions,
    processes: new Alone(),
    alone: (work) => work(),
    refusedDropped: () => rows.refused.dropped,
    async check() {
      await Promise.all([writer.call("check", null), reader.call("check", null), positions.check()]);
    },
    async close() {
      await removed.close();
      await close();
    },
  };
}
