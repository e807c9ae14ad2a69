import pg from "pg";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { ChunkIndex } from "../locations/chunk-index.ts";
import { EngineError } from "../locations/failures.ts";
import { load } from "../locations/load.ts";
import { Locations } from "../locations/locations.ts";
import { Mutex } from "../locations/mutex.ts";
import { Purger } from "../locations/purger.ts";
import { type OpenedStore, toldOf, usualCacheBytes, usualRefusedBytes } from "../opened.ts";
import { WorkerLink } from "../workers/worker-link.ts";
import { checkedAddress } from "./checks.ts";
import { endOf } from "./ending.ts";
import { storeError } from "./errors.ts";
import { SettledReader, WriterGate } from "./location-links.ts";
import type { PostgresPackerCalls, PostgresReaderCalls, PostgresWriterCalls } from "./messages.ts";
import { openPostgresRows, type PostgresOptions, type PostgresRows } from "./open.ts";
import type { Order } from "./orders.ts";
import { ServiceLock } from "./service-lock.ts";
import { type Times, usualTimes } from "./times.ts";
import { DatabaseUnusable } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";

/** How to open a store in a PostgreSQL database. */
export interface PostgresStoreOptions extends Omit<PostgresOptions, "removals" | "service"> {
  /** Bytes of refused reports that each device may have. Unset: 16 MiB. */
  readonly refusedBytes?: number;
  /** Memory for decompressed blocks, bytes. Unset: 32 MiB. */
  readonly cacheBytes?: number;
  /** Called once if another service has written to the database, or an older copy has taken its place. The store then stores nothing more and must be opened anew. */
  readonly onTakenOver?: (error: unknown) => void;
}

/** See `sqlite/open.ts`. */
const suffix = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const historyReaderMs = 1000;

/** The threads of the engine. */
interface Workers {
  readonly writer: WorkerLink<PostgresWriterCalls>;
  readonly reader: WorkerLink<PostgresReaderCalls>;
  readonly historyReader: WorkerLink<PostgresReaderCalls>;
  readonly contextReader: WorkerLink<PostgresReaderCalls>;
  readonly packer: WorkerLink<PostgresPackerCalls>;
}

/** What is open, in the order in which it was opened. */
type Closings = (() => Promise<void>)[];

/**
 * Opens the store of a database: locks it, brings its tables up to date, and rebuilds the index and states. Rejects with `DatabaseUnusable` if it can't be used or another service uses
 * it, `StoreTooNew` if a newer program wrote it, `SecretKeyUnusable` if its secrets can't be decrypted.
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<OpenedStore> {
  const { log, times = usualTimes } = options;
  const closings: Closings = [];
  const close = async () => {
    for (const one of closings.splice(0).reverse()) await one();
  };
  try {
    const address = await checkedAddress(url, times);
    const order: Order = { url, isPlain: address.ssl === false, service: await identified(address, times, log), times };
    const lock = await ServiceLock.take({ address, times, log, service: order.service });
    closings.push(() => lock.release());
    return await assemble(order, lock, options, closings, close);
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

/** Gives this run of the service a name. Warns in the log of a server whose settings may lose acknowledged data when its machine fails. */
async function identified(address: ServerAddress, { connect, statement }: Times, log: Log): Promise<string> {
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
    const given = await client.query<{ service: string }>("select gen_random_uuid()::text as service");
    return given.rows[0]?.service ?? "";
  } catch (error) {
    throw storeError(error, "asked");
  } finally {
    await endOf(client, connect);
  }
}

function workersOf(order: Order, cacheBytes: number, log: Log, closings: Closings): Workers {
  const database = JSON.stringify(order);
  const kind = (name: string, heapMb: number) => ({
    name: `store ${name}`,
    file: new URL(`./${name}${suffix}`, import.meta.url),
    heapMb,
  });
  const ofHistories = { ...kind("reader", 256), name: "store histories", givesWay: true };
  const ofContexts = { ...kind("reader", 256), name: "store contexts", cacheBytes };
  const workers = {
    writer: new WorkerLink<PostgresWriterCalls>(kind("writer", 128), database, log),
    reader: new WorkerLink<PostgresReaderCalls>(kind("reader", 256), database, log),
    historyReader: new WorkerLink<PostgresReaderCalls>(ofHistories, database, log),
    contextReader: new WorkerLink<PostgresReaderCalls>(ofContexts, database, log),
    packer: new WorkerLink<PostgresPackerCalls>({ ...kind("packer", 128), givesWay: true }, database, log),
  };
  const { writer, reader, historyReader, contextReader, packer } = workers;
  closings.push(async () => {
    // Together: each may wait for a server that hangs.
    const closed = [reader, historyReader, contextReader].map((one) => one.close(() => one.call("close", null)));
    await Promise.all([packer.close(() => packer.call("close", null)), ...closed]);
    await writer.close(() => writer.call("close", null));
  });
  return workers;
}

async function assemble(
  order: Order,
  lock: ServiceLock,
  options: PostgresStoreOptions,
  closings: Closings,
  close: () => Promise<void>,
): Promise<OpenedStore> {
  const { log, refusedBytes = usualRefusedBytes, cacheBytes = usualCacheBytes } = options;
  let purger: Purger | undefined;
  const removals = {
    add: (device: DeviceKey) => purger?.add(device),
    doubt: (device: DeviceKey) => purger?.doubt(device),
  };
  const rows = await openPostgresRows(order.url, { ...options, service: order.service, removals });
  closings.push(() => rows.close());
  const { tables: database, vault, crowded } = rows;
  const workers = workersOf(order, cacheBytes, log, closings);
  await workers.writer.call("take", null);
  const onTakenOver = toldOnce(options.onTakenOver);
  lock.watch(onTakenOver);
  const writer = new WriterGate({ writer: workers.writer, lock, onTakenOver });
  const reader = new SettledReader(workers.reader, writer);
  const turns = new Mutex();
  const index = new ChunkIndex();
  const { historyReader, contextReader, packer } = workers;
  const links = { writer, reader, historyReader, contextReader, packer };
  const locations = new Locations({ ...links, turns, index, refusedBytes, crowded, log, vault });
  purger = new Purger({ writer, turns, index, database, locations, log });
  await load(locations, purger);
  const starting = setTimeout(() => locations.steps.start(), historyReaderMs).unref();
  const store = {
    ...storesOf(rows),
    locations,
    async check() {
      await turns.run(() => writer.call("check", null), true);
      await reader.call("check", null);
      await rows.check();
    },
    async close() {
      clearTimeout(starting);
      locations.blocks.close();
      await Promise.all([locations.sealer.close(), purger.close()]);
      await locations.close();
      await turns.run(close);
    },
  };
  return toldOf(store, index, locations);
}

/** Passes on the first error only. */
function toldOnce(tell: (error: unknown) => void = () => undefined): (error: unknown) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) tell(error);
    isTold = true;
  };
}

/** The stores of the row tables, without what they are built on. */
function storesOf({ tables: _tables, vault: _vault, crowded: _crowded, ...stores }: PostgresRows) {
  return stores;
}
