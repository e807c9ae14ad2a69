import { type Kysely, type SqlBool, sql } from "kysely";
import { bucketCount } from "../../ports/processes.ts";
import type { Schema } from "../schema.ts";

/*
 * process          the processes that are alive; `session`: the server's process for the connection of each
 * process_bucket   who follows the devices of each share
 * process_event    what each told the others within the last minute; `nth` of its teller, so that none is stored twice
 */
const tables = [
  `create table if not exists process (name text collate "C" primary key, seen_at timestamptz not null, session integer not null)`,
  `create table if not exists process_bucket (number integer primary key, holder text collate "C")`,
  `create table if not exists process_event (number bigint primary key generated always as identity, at timestamptz not null default now(),
    teller text collate "C" not null, nth bigint not null, events text not null, unique (teller, nth))`,
  `insert into process_bucket (number) select * from generate_series(0, ${bucketCount - 1}) on conflict do nothing`,
];

/** Their names. Nothing in them outlives the processes. */
export const processTables: readonly string[] = "process process_bucket process_event".split(" ");

/** What the connection by which a process says that it is alive calls itself, before the process's name. */
export const sessionName = "waybeam process ";

/**
 * Whether the process of an `owner` was missed, and its connection is gone, too: one that only stands still may go on,
 * and knows best what became of its work.
 */
export const hasEnded = sql<SqlBool>`owner not in (select name from process)
  and not exists (select from pg_stat_activity where application_name = ${sql.lit(sessionName)} || owner)`;

/** Makes the tables of the processes where they are not there. */
export async function makeProcessTables(database: Kysely<Schema>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(database);
}
