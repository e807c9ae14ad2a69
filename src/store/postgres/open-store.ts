import pg from "pg";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { EngineError } from "../failures.ts";
import type { OpenedStore } from "../opened.ts";
import { openPostgresPositions } from "../positions/postgres/open.ts";
import { RemovedDevices } from "../removal/removed-devices.ts";
import type { Fence } from "../rows/follow.ts";
import { alone } from "./alone.ts";
import { checkedAddress } from "./checks.ts";
import { endOf } from "./ending.ts";
import { storeError } from "./errors.ts";
import { openPostgresRows, type PostgresOptions } from "./open.ts";
import { PostgresProcesses } from "./processes.ts";
import { type Run, serverText } from "./run.ts";
import { ServiceLock } from "./service-lock.ts";
import { type Times, usualTimes } from "./times.ts";
import { DatabaseUnusable } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";

/** How to open a store in a PostgreSQL database. */
export interface PostgresStoreOptions extends Omit<PostgresOptions, "removals" | "run" | "fence"> {
  /**
   * Called once if this process was missed and others have taken its work over, or a standby has taken the server's
   * place. The store must then be opened anew.
   */
  readonly onTakenOver?: (error: unknown) => void;
}

/** What is open, in the order in which it was opened. */
type Closings = (() => Promise<void>)[];

/**
 * Opens the store of a database: locks it and brings its tables up to date. Rejects with `DatabaseUnusable` if it can't
 * be used or another program has it for itself, `StoreTooNew` if a newer program wrote it, `SecretKeyUnusable` if its
 * secrets can't be decrypted.
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<OpenedStore> {
  const { log, times = usualTimes } = options;
  const closings: Closings = [];
  const close = async () => {
    for (const one of closings.splice(0).reverse()) await one();
  };
  try {
    const address = await checkedAddress(url, times);
    const run = await identified(address, times, log);
    const how = options.secrets?.rotate === true ? "alone" : "shared";
    const lock = await ServiceLock.take({ address, times, log, run, how });
    closings.push(() => lock.release());
    return await assemble({ url, address, run, lock, how }, options, closings, close);
  } catch (error) {
    await close();
    throw startFailure(error);
  }
}

/** The error of a start if the server fails a statement or does not answer in time. */
function startFailure(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable) || error.trouble === "damaged") return error;
  const wrong = `The database can't be opened: ${error.message}`;
  return new DatabaseUnusable([{ wrong, advice: adviceFor(error) }], { cause: error });
}

/** SQLSTATE of a wait for a lock that took too long. */
const lockTimeout = "55P03";

function adviceFor({ trouble, cause }: StoreUnavailable): string {
  return trouble === "exhausted" && cause instanceof EngineError && cause.code === lockTimeout
    ? "Another session, such as a backup by pg_dump, holds a lock on a table that must be changed (pg_locks shows which): wait until it ends, or end it."
    : "Look whether its server runs and answers, and whether the standbys that it waits for are there.";
}

/**
 * Gives this run of the service a name. Warns in the log of a server whose settings may lose acknowledged data when its
 * machine fails.
 */
export async function identified(address: ServerAddress, { connect, statement }: Times, log: Log): Promise<Run> {
  const client = new pg.Client({ ...address, connectionTimeoutMillis: connect, query_timeout: statement });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name",
    );
    const names = rows.map(({ name }) => name).join(" and ");
    const text = `the server runs with ${names} off: what trackers were told is stored may be lost when its machine fails`;
    if (rows.length > 0) log.warn({}, text);
    const given = await client.query<{ name: string }>("select gen_random_uuid()::text as name");
    return { name: given.rows[0]?.name ?? "", server: await serverText(client) };
  } catch (error) {
    throw storeError(error, "asked");
  } finally {
    await endOf(client, connect);
  }
}

/** The database of a run of the service, which holds its lock. */
interface Locked {
  readonly url: string;
  readonly address: ServerAddress;
  readonly run: Run;
  readonly lock: ServiceLock;
  readonly how: "shared" | "alone";
}

async function assemble(
  { url, address, run, lock, how }: Locked,
  options: PostgresStoreOptions,
  closings: Closings,
  close: () => Promise<void>,
): Promise<OpenedStore> {
  const { log, times = usualTimes } = options;
  let removed: RemovedDevices | undefined;
  const removals = {
    add: (device: DeviceKey) => removed?.add(device),
    doubt: (device: DeviceKey) => removed?.doubt(device),
  };
  const onTakenOver = toldOnce(options.onTakenOver);
  lock.watch(onTakenOver);
  const processes = new PostgresProcesses({ address, log, run, onTakenOver });
  closings.push(() => processes.close());
  const fence: Fence = (transaction) => processes.fence(transaction);
  // Who has the database alone knows that nobody else is there, and its connections need no share of the lock.
  const own = how === "shared" ? { run } : {};
  const { tables, ...rows } = await openPostgresRows(url, { ...options, ...own, fence, removals });
  closings.push(() => rows.close());
  const positions = await openPostgresPositions(address, { log, times, processes, ...own });
  closings.push(() => positions.close());
  removed = new RemovedDevices({ database: tables, positions, log });
  await removed.resume();
  return {
    ...rows,
    positions,
    processes,
    // A server that does not answer any longer breaks the connections of the work by itself.
    alone: (work) => alone({ address, times, lost: () => {} }, work),
    refusedDropped: () => rows.refused.dropped,
    async check() {
      await Promise.all([rows.check(), positions.check()]);
    },
    async close() {
      await removed?.close();
      await close();
    },
  };
}

/** Passes on the first error only. */
function toldOnce(tell: (error: unknown) => void = () => undefined): (error: unknown) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) tell(error);
    isTold = true;
  };
}
