import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import type { Log } from "../../ports/log.ts";
import { finishRestore } from "../backup/placing.ts";
import { ChunkIndex } from "../locations/chunk-index.ts";
import { load } from "../locations/load.ts";
import { type LocationParts, Locations } from "../locations/locations.ts";
import { Mutex } from "../locations/mutex.ts";
import { Purger } from "../locations/purger.ts";
import { SpentTail } from "../locations/spent-tail.ts";
import { migrate } from "../migrations/migrations.ts";
import {
  type OpenedStore,
  toldOf,
  usualCacheBytes,
  usualCommands,
  usualNotices,
  usualRefusedBytes,
} from "../opened.ts";
import { AccountRows } from "../rows/accounts.ts";
import { AlertRuleRows } from "../rows/alert-rules.ts";
import { AlertRows } from "../rows/alerts.ts";
import { CommandRows } from "../rows/commands.ts";
import { DailyRows } from "../rows/daily.ts";
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
import type { Schema } from "../schema.ts";
import { type SecretOptions, unlock } from "../secrets/unlock.ts";
import { openVault } from "../secrets/vault.ts";
import { WorkerLink } from "../workers/worker-link.ts";
import { checkBeforeOpening } from "./before-opening.ts";
import { runTogether, WorkerDialect } from "./dialect.ts";
import { engine } from "./engine.ts";
import { databaseOf, makeFolder, openFailure } from "./folder.ts";
import { waitForFolder } from "./lock.ts";
import type { SqlitePackerCalls, SqliteReaderCalls, SqliteWriterCalls } from "./messages.ts";
import { closeCopy, forgetGoneLog } from "./open-mark.ts";
import { closeToOthers, makePrivate, tellOpen } from "./private-files.ts";
import { secretEngine } from "./secrets.ts";
import { tellDamagedTables } from "./verify.ts";
import { checkWhole, cutShort } from "./whole.ts";

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
  /** Memory for decompressed blocks, bytes. Unset: 32 MiB. */
  readonly cacheBytes?: number;
  readonly log: Log;
  /** Number of this process. Another one that wants the same folder is told it. */
  readonly pid: number;
  /** The user that the process runs as. Unset: nothing checks who else can read the files. */
  readonly uid?: number | undefined;
  /** How the secrets are encrypted. Unset, for tools and tests: they are not. */
  readonly secrets?: SecretOptions;
}

/** Workers run the same kind of code as this file: TypeScript in a checkout, or the built JavaScript. */
const suffix = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** When the reader of long histories is started, ms after the opening: neither the start of the service nor the first history waits for it. */
const historyReaderMs = 1000;

/** Another program that moves the log at its own end locks the database meanwhile, ms. */
const heldTimeoutMs = 5000;

/**
 * Opens the embedded store of a data folder: locks the folder, brings the tables up to date, and rebuilds the index and states.
 * Rejects with `DataFolderInUse` if another process has it, `StoreTooNew` if a newer program wrote it, `DataFolderUnusable` if it or a file
 * in it can't be used.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { directory, log, pid, uid, secrets } = options;
  makeFolder(directory);
  const lock = await waitForFolder(directory, pid);
  try {
    finishRestore(directory);
    const mark = checkWhole(directory);
    checkBeforeOpening(databaseOf(directory), secrets?.file);
    if (mark?.isCutShort) log.warn({ directory }, cutShort);
    if (mark !== undefined) closeCopy(databaseOf(directory), mark);
    forgetGoneLog(databaseOf(directory));
  } catch (error) {
    lock.release();
    throw openFailure(error, directory, "waybeam.db");
  }
  makePrivate(databaseOf(directory));
  const file = join(directory, "waybeam.db");
  // The heaps: a writer holds nothing between commits; a reader holds one step of a history or one list.
  const writer = new WorkerLink<SqliteWriterCalls>(worker("writer", 64), file, log);
  const { cacheBytes = usualCacheBytes } = options;
  const reader = new WorkerLink<SqliteReaderCalls>(worker("reader", 256), file, log);
  const ofHistories = { ...worker("reader", 256), name: "store histories", givesWay: true };
  const historyReader = new WorkerLink<SqliteReaderCalls>(ofHistories, file, log);
  // Its thread starts with the first late report.
  const ofContexts = { ...worker("reader", 256), name: "store contexts", cacheBytes };
  const contextReader = new WorkerLink<SqliteReaderCalls>(ofContexts, file, log);
  // Its thread starts with the first slice that is to be sealed.
  const packer = new WorkerLink<SqlitePackerCalls>({ ...worker("packer", 128), givesWay: true }, file, log);
  let held: DatabaseSync | undefined;
  let started = false;
  const close = async () => {
    // A start that failed leaves the log as it was: what is not whole must not be moved into the database.
    const released = started && (await release(writer, log));
    if (released) held?.close();
    await packer.close(() => packer.call("close", null));
    for (const one of [reader, historyReader, contextReader]) await one.close(() => one.call("close", null));
    // After the others, so that the writer moves the log into the database, unless the log must stay.
    await writer.close(() => writer.call("close", null));
    if (!released) held?.close();
    lock.release();
  };
  let store: OpenedStore | undefined;
  try {
    // Before the writer opens the database: after a kill it is marked as open already.
    held = hold(file);
    store = await assemble({ writer, reader, historyReader, contextReader, packer }, options, close);
    // A new database has its log by now.
    readMark(held);
    await writer.call("mark", null);
    started = true;
    // Now that the folder is known to be the service's own.
    closeToOthers(directory, uid, log);
    if (secrets !== undefined && uid !== undefined) tellOpen(secrets.file, log);
    return store;
  } catch (error) {
    await (store === undefined ? close() : store.close());
    throw openFailure(error, directory, "waybeam.db");
  }
}

/**
 * A connection that only keeps the log in its place. SQLite moves the log into the database and deletes it when the last connection closes, which the workers do where
 * the process ends by itself: the log of a database that is marked as open would be missing. This thread closes nothing at its end. And where the database can't be marked
 * as closed, this connection closes last: one that only reads leaves the log.
 */
function hold(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: heldTimeoutMs });
  readMark(database);
  return database;
}

/** A connection takes part in a log from its first reading of the database on. */
function readMark(database: DatabaseSync): void {
  database.prepare("pragma user_version").get();
}

/** Marks the database as closed. Returns false when that fails: then the log must stay. */
async function release(writer: WorkerLink<SqliteWriterCalls>, log: Log): Promise<boolean> {
  try {
    await writer.call("unmark", null);
    return true;
  } catch (error) {
    log.warn(
      { error: String(error) },
      "the database can't be marked as closed: its log stays, and the next start reads it",
    );
    return false;
  }
}

function worker(name: string, heapMb: number) {
  return { name: `store ${name}`, file: new URL(`./${name}${suffix}`, import.meta.url), heapMb };
}

/** The threads of the engine. */
interface Workers extends Pick<LocationParts, "packer"> {
  readonly writer: WorkerLink<SqliteWriterCalls>;
  readonly reader: WorkerLink<SqliteReaderCalls>;
  readonly historyReader: WorkerLink<SqliteReaderCalls>;
  readonly contextReader: WorkerLink<SqliteReaderCalls>;
}

/** One process has the folder. */
async function makeOwner(database: Kysely<Schema>): Promise<Owner> {
  const { rows } = await sql<{ name: string }>`select lower(hex(randomblob(16))) as name`.execute(database);
  return { name: rows[0]?.name ?? "", alone: true };
}

async function assemble(
  workers: Workers,
  options: SqliteStoreOptions,
  close: () => Promise<void>,
): Promise<OpenedStore> {
  const { log, secrets, refusedBytes = usualRefusedBytes } = options;
  const turns = new Mutex();
  const index = new ChunkIndex(new SpentTail());
  const crowded = new CrowdedNotices(options.noticesPerDevice ?? usualNotices);
  const database = new Kysely<Schema>({ dialect: new WorkerDialect({ ...workers, turns }) });
  // By the writer, which also creates the file; a reader opens it when all tables are there.
  const settle = secrets && (await unlock(database, secretEngine, secrets, log));
  await migrate(database, engine);
  const vault = (await settle?.()) ?? openVault;
  const owner = await makeOwner(database);
  const locations = new Locations({ ...workers, turns, index, refusedBytes, crowded, log, vault });
  const purger = new Purger({ writer: workers.writer, turns, index, database, locations, log });
  // Before anybody is told that the service runs: if these fail, nothing can be stored, or totals are read wrong.
  await workers.writer.call("tryAppend", null);
  await mendIndex(workers.writer, log);
  await load(locations, purger);
  const closing = new AbortController();
  const starting = setTimeout(() => {
    locations.steps.start();
    void tellDamagedTables(workers.historyReader, locations.sealer, log, closing.signal);
  }, historyReaderMs).unref();
  const store = {
    locations,
    devices: new DeviceRows(database, purger),
    users: new UserRows(database),
    accounts: new AccountRows(database, vault),
    groups: new GroupRows(database),
    commands: new CommandRows(database, options.commandsPerDevice ?? usualCommands, owner.name),
    daily: new DailyRows(database),
    geofences: new GeofenceRows(database),
    alertRules: new AlertRuleRows(database, vault, log),
    alerts: new AlertRows(database),
    notices: new NoticeRows(database, { vault, crowded, together: runTogether({ ...workers, turns }), owner }),
    refused: new RefusedRows(database),
    recipients: new RecipientRows(database),
    mutes: new MuteRows(database),
    signIns: new SignInRows(database),
    shares: new ShareRows(database),
    secondFactors: new SecondFactorRows(database, vault),
    async check() {
      await turns.run(() => workers.writer.call("check", null), true);
      await workers.reader.call("check", null);
    },
    async close() {
      clearTimeout(starting);
      closing.abort();
      locations.blocks.close();
      await Promise.all([locations.sealer.close(), purger.close()]);
      await locations.close();
      await turns.run(close);
    },
  };
  return toldOf(store, index, locations);
}

async function mendIndex(writer: Workers["writer"], log: Log): Promise<void> {
  const mended = await writer.call("mendIndex", null);
  if (mended === "rebuilt") log.warn({}, "the index patch_device was damaged and is made anew");
  if (mended === "damaged")
    log.error(
      {},
      "the index patch_device is damaged and can't be made anew: late reports of some devices can't be read; restore a backup",
    );
}
