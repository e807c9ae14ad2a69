import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { addSpentFunction } from "../sqlite/spent-table.ts";
import type { Offer } from "./earlier.ts";
import { names } from "./manifest.ts";
import { writePacks } from "./pack-writer.ts";
import { type Pack, packIndex, packTables } from "./packs.ts";
import type { LongWork } from "./refused.ts";
import { takeOver } from "./take-over.ts";
import { checkVersion, keyIdsOf } from "./version.ts";

/** What a snapshot of a database holds. */
export interface Snapshot {
  /** Number of its newest migration. */
  readonly data: number;
  /** Chunks and records of the tail and of blocks, by device. */
  readonly byDevice: ReadonlyMap<number, Counted>;
  /** The files with the bytes of blocks. */
  readonly packs: Packs;
  /** Bytes of the database with the bytes of blocks, about. */
  readonly wholeBytes: number;
  /** How many devices have a damaged entry of what is spent: see `spentIn`. */
  readonly damagedSpent: number;
}

/** Where the bytes of blocks are. */
export interface Packs {
  readonly taken: readonly Pack[];
  readonly written: readonly Pack[];
  /** Why nothing was taken over from the earlier backup. Undefined if something was, or if there is no earlier backup. */
  readonly why: string | undefined;
}

/** What to copy, and where to. */
export interface CopyOptions {
  /** The database. */
  readonly from: string;
  /** The folder to write into. */
  readonly folder: string;
  readonly offer: Offer | undefined;
  /** Bytes from which on a pack is full. */
  readonly packBytes: number;
}

/** What there is of one device. */
export interface Counted {
  rows: number;
  records: number;
}

/** Rows that one step copies: some milliseconds for small ones, 32 MB at most of the largest. */
const step = 512;

/*
 * - synchronous: a copy that is cut short is deleted, so nothing has to be on disk before the caller syncs the whole file.
 * - cache_size: all the memory that a copy of any size takes.
 */
const pragmas = `
  pragma page_size = 8192;
  pragma synchronous = off;
  pragma cache_size = -16000;
`;

/** A service that closes moves its log into the database and locks it meanwhile, ms. */
export const busyTimeoutMs = 5000;

interface Made {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/**
 * Writes a copy of a database into new files, as of one moment, while another process goes on writing. One read transaction sees one snapshot from its beginning
 * to its end, so commits of others neither show nor restart anything (as they restart SQLite's backup). Meanwhile the log of the database grows.
 */
export async function copyDatabase(options: CopyOptions, work: LongWork): Promise<Snapshot> {
  const { from, folder, offer } = options;
  const database = new DatabaseSync(join(folder, names.tables), { timeout: busyTimeoutMs });
  try {
    database.exec(pragmas);
    attach(database, from, "live");
    if (offer !== undefined) attach(database, join(offer.earlier.folder, names.tables), "earlier");
    database.exec("begin");
    // The first read of the transaction: the snapshot.
    const data = checkVersion(database, "live");
    const { length: damagedSpent } = addSpentFunction(database, "live");
    const byDevice = await copyAll(database, work);
    const packs = await copyBlocks(database, options, work);
    markWhole(database);
    database.exec("commit");
    return { data, byDevice, packs, wholeBytes: bytesOf(database), damagedSpent };
  } finally {
    database.close();
  }
}

function attach(database: DatabaseSync, file: string, schema: "live" | "earlier"): void {
  const address = pathToFileURL(file);
  address.searchParams.set("mode", "ro");
  database.prepare(`attach ? as ${schema}`).run(address.href);
}

function bytesOf(database: DatabaseSync): number {
  const of = (name: string) => Number(Object.values(database.prepare(`pragma live.${name}`).get() ?? {})[0]);
  return (of("page_count") - of("freelist_count")) * of("page_size");
}

/** The table whose rows go into packs. */
const bytesTable = "block_data";
/** The table that tells which rows of the tail are in blocks by now. A copy has none of these rows. */
const spentTable = "spent";
const notSpent = "and not is_spent(device, seq)";

async function copyAll(database: DatabaseSync, work: LongWork): Promise<Map<number, Counted>> {
  const made = schemaOf(database);
  const tables = made.filter(({ type }) => type === "table");
  for (const { sql } of tables) database.exec(sql);
  const byDevice = new Map<number, Counted>();
  for (const { name } of tables) {
    if (name === bytesTable || name === spentTable) continue;
    const count = name === "tail" || name === "block" ? countChunks(database, name, byDevice) : () => {};
    await copyRows(database, name, count, work);
  }
  if (database.prepare("select 1 from main.sqlite_master where name = 'sqlite_sequence'").get() !== undefined)
    database.exec(
      "delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from live.sqlite_sequence",
    );
  // After the rows: an index is made faster at once, and a trigger would act on each row.
  for (const { type, sql, name } of made) {
    if (type === "table") continue;
    work.signal.throwIfAborted();
    work.progress(() => `making the index ${name} ...`);
    database.exec(sql);
    await nextTurn();
  }
  return byDevice;
}

const foreign =
  "the backup that is there has another secret key: it is of another service, or the key was replaced since";

/** Puts the bytes of blocks into packs, and takes over what an earlier backup has of them. */
async function copyBlocks(
  database: DatabaseSync,
  { folder, offer, packBytes }: CopyOptions,
  work: LongWork,
): Promise<Packs> {
  database.exec(packTables);
  const hasBlocks = database.prepare("select 1 from main.sqlite_master where name = ?").get(bytesTable) !== undefined;
  const isForeign = offer !== undefined && keyIdsOf(database, "live").join() !== offer.earlier.manifest.keys.join();
  const taken = hasBlocks && offer && !isForeign ? await takeOver(database, offer.packs, packBytes, work) : [];
  const kept = new Set(taken.map(({ name }) => name));
  for (const { name } of offer?.packs ?? []) if (!kept.has(name)) rmSync(join(folder, name), { force: true });
  // Data of earlier versions have no blocks.
  const written = hasBlocks ? await writePacks(database, folder, packBytes, work) : [];
  database.exec(packIndex);
  return { taken, written, why: isForeign ? foreign : undefined };
}

/** What there is to make, tables first and triggers last. What SQLite makes by itself has no text. */
function schemaOf(database: DatabaseSync): readonly Made[] {
  const rows = database
    .prepare(
      `select type, name, sql from live.sqlite_master where sql is not null and name not like 'sqlite\\_%' escape '\\'
       order by case type when 'table' then 0 when 'index' then 1 else 2 end, rowid`,
    )
    .all();
  return rows.map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
}

async function copyRows(
  database: DatabaseSync,
  table: string,
  count: (after: number, to: number) => void,
  { signal, progress }: LongWork,
): Promise<void> {
  const name = `"${table.replaceAll('"', '""')}"`;
  const bounds = database.prepare(`select min(rowid) as low, max(rowid) as high from live.${name}`).get();
  if (typeof bounds?.low !== "number" || typeof bounds.high !== "number") return;
  const { low, high } = bounds;
  const end = database.prepare(
    `select max(rowid) as at from (select rowid from live.${name} where rowid > ? order by rowid limit ${step})`,
  );
  const some = table === "tail" ? notSpent : "";
  const copy = database.prepare(
    `insert into main.${name} select * from live.${name} where rowid > ? and rowid <= ? ${some} order by rowid`,
  );
  for (let after = low - 1; after < high; ) {
    signal.throwIfAborted();
    const to = Number(end.get(after)?.at);
    copy.run(after, to);
    count(after, to);
    after = to;
    progress(() => `copying ${table}: ${Math.floor((100 * (to - low + 1)) / (high - low + 1))} %`);
    // A signal is heard between two steps.
    await nextTurn();
  }
}

function countChunks(
  database: DatabaseSync,
  table: "tail" | "block",
  byDevice: Map<number, Counted>,
): (after: number, to: number) => void {
  const grouped = database.prepare(
    `select device, count(*) as n, total(count) as records from live.${table} where seq > ? and seq <= ? ${table === "tail" ? notSpent : ""} group by device`,
  );
  return (after, to) => {
    for (const { device, n, records } of grouped.all(after, to)) {
      const counted = byDevice.get(Number(device)) ?? { rows: 0, records: 0 };
      counted.rows += Number(n);
      counted.records += Number(records);
      byDevice.set(Number(device), counted);
    }
  };
}

/** The service takes a database with an odd number for one whose log must be there: a copy has none. */
function markWhole(database: DatabaseSync): void {
  const number = Number(database.prepare("pragma live.user_version").get()?.user_version ?? 0);
  database.exec(`pragma main.user_version = ${number % 2 === 0 ? number : number + 1}`);
}
