import { type Kysely, sql, type Transaction } from "kysely";
import { bucketCount } from "../../ports/processes.ts";
import type { Schema } from "../schema.ts";
import { locks } from "./advisory-locks.ts";

/** One that has not said for this long that it is alive is missed, ms by the server's clock. */
export const missedMs = 5000;
/**
 * So is one whose connection is gone as well, though the server did not end, after this time: it was killed, or would
 * have another by now, ms.
 */
const goneMs = 2500;
/**
 * Who says so later than this was cut off, as the others may have been: it must see them silent anew before it misses
 * them, ms.
 */
const lateMs = 2500;
/** For how long events are kept, ms. */
const keptMs = 60_000;

/**
 * The channel of notifications. Those with the text `changed` tell that a process came or went, or gave shares back.
 */
export const channel = "waybeam_processes";
export const changed = "changed";

const clock = sql`clock_timestamp()`;
const ago = (ms: number) => sql`clock_timestamp() - ${ms} * interval '1 ms'`;
const sessions = sql`(select pid from pg_stat_activity where datname = current_database())`;
const poke = sql`select pg_notify(${channel}, ${changed})`;

/** How a process tends its row. */
export interface Tending {
  readonly name: string;
  /** It has no row yet. */
  readonly isNew: boolean;
  /** Since when it has tended its row in time, ms by the server's clock. */
  readonly inTimeSince: number;
  /** Shares that it gives back. */
  readonly given: readonly number[];
}

/** What a process finds when it tends its row. */
export interface Tended {
  readonly names: readonly string[];
  /** Its shares. */
  readonly buckets: readonly number[];
  readonly inTimeSince: number;
  /** Now, ms by the server's clock. */
  readonly now: number;
}

/**
 * Says that a process is alive, removes those that are missed, gives shares back and takes what is free of a fair part.
 * Undefined: it was missed itself, and has no row any more.
 */
export async function tend(
  transaction: Transaction<Schema>,
  { name, isNew, given, ...before }: Tending,
): Promise<Tended | undefined> {
  await alone(transaction);
  // A connection that was made anew does not listen yet.
  await sql`listen ${sql.raw(channel)}`.execute(transaction);
  const own = await (isNew ? insertRow(transaction, name) : raiseRow(transaction, name));
  if (own === undefined) return undefined;
  const { now } = own;
  let { inTimeSince } = before;
  // One that has just come sees who was killed. Whom it does not hear of may be late, as after an outage.
  if (isNew) inTimeSince = now - goneMs;
  else if (now - own.seen > lateMs) inTimeSince = now;
  await removeMissed(transaction, now - inTimeSince);
  await sql`update process_bucket set holder = null where holder not in (select name from process)
    or (holder = ${name} and number in (${sql.join([-1, ...given])}))`.execute(transaction);
  const { rows } = await sql<{ name: string }>`select name from process order by name`.execute(transaction);
  const buckets = await takeFree(transaction, name, fairShare(rows.length));
  if (isNew || given.length > 0) await poke.execute(transaction);
  return { names: rows.map((row) => row.name), buckets, inTimeSince, now };
}

/** How many shares each of some processes has, at most. */
export function fairShare(processes: number): number {
  return Math.ceil(bucketCount / processes);
}

async function alone(transaction: Transaction<Schema>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.raw(locks.tend)})`.execute(transaction);
}

interface OwnRow {
  readonly now: number;
  /** When it was seen before. */
  readonly seen: number;
}

async function insertRow(transaction: Transaction<Schema>, name: string): Promise<OwnRow | undefined> {
  const { rows } =
    await sql<OwnRow>`insert into process (name, seen_at, session) values (${name}, ${clock}, pg_backend_pid())
    on conflict (name) do update set seen_at = excluded.seen_at
    returning extract(epoch from seen_at)::float8 * 1000 as now, extract(epoch from seen_at)::float8 * 1000 as seen`.execute(
      transaction,
    );
  return rows[0];
}

async function raiseRow(transaction: Transaction<Schema>, name: string): Promise<OwnRow | undefined> {
  const { rows } = await sql<OwnRow>`update process as own set seen_at = ${clock}, session = pg_backend_pid()
    from (select seen_at from process where name = ${name}) as before where name = ${name}
    returning extract(epoch from own.seen_at)::float8 * 1000 as now,
      extract(epoch from before.seen_at)::float8 * 1000 as seen`.execute(transaction);
  return rows[0];
}

/** A process whose follower commits just now holds its row, and is not missed. */
async function removeMissed(transaction: Transaction<Schema>, inTimeMs: number): Promise<void> {
  if (inTimeMs >= goneMs)
    await sql`delete from process where name in (select name from process
      where (seen_at < ${ago(missedMs)} and ${inTimeMs} >= ${missedMs}::float8)
        or (seen_at < ${ago(goneMs)} and seen_at > pg_postmaster_start_time() and session not in ${sessions})
      for update skip locked)`.execute(transaction);
  if (inTimeMs >= missedMs) await sql`delete from process_event where at < ${ago(keptMs)}`.execute(transaction);
}

async function takeFree(transaction: Transaction<Schema>, name: string, most: number): Promise<readonly number[]> {
  const held = await sql<{ number: number }>`select number from process_bucket where holder = ${name}`.execute(
    transaction,
  );
  const room = Math.max(0, most - held.rows.length);
  const taken = await sql<{ number: number }>`update process_bucket set holder = ${name} where number in
    (select number from process_bucket where holder is null order by number limit ${room}) returning number`.execute(
    transaction,
  );
  return [...held.rows, ...taken.rows].map(({ number }) => number);
}

/**
 * Whether others that are connected have not tended their rows since a moment, so that they may not know who came then.
 */
export async function areUnaware(database: Kysely<Schema>, since: number): Promise<boolean> {
  const { rows } = await sql`select from process where seen_at < to_timestamp(${since}::float8 / 1000)
    and session in ${sessions}`.execute(database);
  return rows.length > 0;
}

/** Removes a process that ends. */
export async function leave(transaction: Transaction<Schema>, name: string): Promise<void> {
  await alone(transaction);
  await sql`update process_bucket set holder = null where holder = ${name}`.execute(transaction);
  await sql`delete from process where name = ${name}`.execute(transaction);
  await poke.execute(transaction);
}

/**
 * Whether a process has its row, which then stays until the transaction ends. Who hangs within it is cut off by the
 * server, so that the others need not wait.
 */
export async function isIn(transaction: Transaction<Schema>, name: string): Promise<boolean> {
  const { rows } = await sql`select set_config('idle_in_transaction_session_timeout', ${String(missedMs)}, true)
    from process where name = ${name} for key share`.execute(transaction);
  return rows.length === 1;
}
