import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { atEnd, closedAtEnd } from "./at-end.ts";
import { template } from "./postgres.ts";

/*
 * Which engine keeps what the services of a test store. Tests know folders only. Each folder stands for an embedded
 * store, or for a database of the PostgreSQL server whose address TEST_POSTGRES has (`npm run test:postgres` sets it).
 */

const server = process.env.TEST_POSTGRES ?? "";

/** Whether tests run on PostgreSQL: for what the engines do each in their own way. */
export const onPostgres = server !== "";

/** Why a test of the embedded store's files is skipped; false where it is not. */
export const noFiles: string | false = onPostgres && "about the files of the embedded store";

const urls = new Map<string, Promise<string>>();

/**
 * The setting `store.url` of a service with this data folder: its database, made when it is first asked for and dropped
 * at the end of the test file.
 */
export function storeUrl(directory: string): Promise<string> {
  if (!onPostgres) return Promise.resolve("");
  const url = urls.get(directory) ?? makeDatabase(`test_${createHash("sha256").update(directory).digest("hex")}`);
  urls.set(directory, url);
  return url;
}

async function makeDatabase(long: string): Promise<string> {
  // As long as a name may be.
  const name = long.slice(0, 63);
  const exists = await ask(server, `select from pg_database where datname = '${name}'`);
  if (exists.length === 0) {
    await ask(server, `create database ${name} template ${template}`);
    atEnd(() => ask(server, `drop database ${name} with (force)`));
  }
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}

/** The same as a variable of the service's environment. */
export async function storeEnvironment(directory: string): Promise<Readonly<Record<string, string>>> {
  return onPostgres ? { WAYBEAM_STORE_URL: await storeUrl(directory) } : {};
}

type Row = Readonly<Record<string, unknown>>;

/** A connection to what is stored, behind the store's back, for SQL that both engines have. */
export interface Behind {
  rows(sql: string): Promise<readonly Row[]>;
  /** All rows of all tables but these as text, each table's in an order of their own. */
  everything(except: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** Opens one to what is stored for a data folder. */
export async function behindStore(directory: string): Promise<Behind> {
  return closedAtEnd(
    onPostgres ? await postgresBehind(await storeUrl(directory)) : sqliteBehind(join(directory, "waybeam.db")),
  );
}

/** Runs one statement behind the store's back. */
export async function runBehindStore(directory: string, sql: string): Promise<void> {
  const behind = await behindStore(directory);
  try {
    await behind.rows(sql);
  } finally {
    await behind.close();
  }
}

function sqliteBehind(file: string): Behind {
  const database = new DatabaseSync(file);
  return {
    rows: (sql) => unlocked(() => database.prepare(sql).all()),
    everything: async (except) => {
      const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
      const names = tables.map(({ name }) => String(name)).filter((name) => !except.includes(name));
      return textOf(names.map((name) => database.prepare(`select * from "${name}"`).all()));
    },
    close: async () => database.close(),
  };
}

/** SQLITE_BUSY: a transaction is under way, perhaps of a store in this process, which a wait in SQLite would stop. */
const busy = 5;

async function unlocked<T>(work: () => T): Promise<T> {
  for (const until = Date.now() + 10_000; ; await pause(5))
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Error && "errcode" in error && error.errcode === busy && Date.now() < until)) throw error;
    }
}

async function postgresBehind(url: string): Promise<Behind> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = async (sql: string) => {
    const { rows: found }: pg.QueryResult<Row> = await client.query(sql);
    return found;
  };
  return {
    rows,
    everything: async (except) => {
      const tables = await rows("select tablename from pg_tables where schemaname = 'public' order by tablename");
      const names = tables.map(({ tablename }) => String(tablename)).filter((name) => !except.includes(name));
      // Several statements at once: one for each table would take longer than the tests.
      const answers: unknown = await client.query(names.map((name) => `table "${name}"`).join(";"));
      return textOf(Array.isArray(answers) ? answers.map((answer: pg.QueryResult<Row>) => answer.rows) : []);
    },
    close: () => client.end(),
  };
}

function textOf(tables: readonly (readonly Row[])[]): string {
  return JSON.stringify(tables.map((rows) => rows.map((row) => JSON.stringify(row)).toSorted()));
}

async function ask(url: string, sql: string): Promise<readonly Row[]> {
  const behind = await postgresBehind(url);
  try {
    return await behind.rows(sql);
  } finally {
    await behind.close();
  }
}
