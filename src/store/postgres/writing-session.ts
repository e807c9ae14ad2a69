import { setTimeout as pause } from "node:timers/promises";
import { EngineError } from "../locations/failures.ts";
import { writingSettings } from "./connection.ts";
import { durable } from "./durable.ts";
import { addressOf, locks, type Order, ownerSetting } from "./orders.ts";
import type { Statement } from "./wire/messages.ts";
import { Session, step } from "./wire/session.ts";
import { text } from "./wire/values.ts";

/** Code of a failure because another service has written to the database. */
export const takenOver = "WB002";
/** The message of that failure. */
export const takenOverText = "another service has written to the database, or a standby has taken the server's place";
/** Time between two attempts to take the lock, ms. */
const tryMs = 50;
/** An earlier session of ours that still holds the lock is terminated after this time, ms. */
const patienceMs = 500;

const sql = {
  lock: { name: "lock", sql: `select pg_try_advisory_lock(${locks.writing})::int::bigint` },
  durable: { name: "durable", sql: `select ${durable}` },
  // A session that waits for a standby is spared: ended, its commit would count as done though the standby does not have it.
  end: {
    name: "end_own",
    sql: `select count(pg_terminate_backend(pid)) from pg_stat_activity
      where application_name = $1::text and pid <> pg_backend_pid() and wait_event is distinct from 'SyncRep'`,
  },
  holder: {
    name: "holder",
    sql: `select application_name || coalesce(' at ' || client_addr, '') from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32 | objid::bigint) = ${locks.writing} limit 1`,
  },
  // The name of the current WAL file begins with the timeline.
  timeline: { name: "timeline", sql: "select left(pg_walfile_name(pg_current_wal_lsn()), 8)" },
  owner: { name: "owner", sql: "select value from setting where name = $1::text" },
  own: {
    name: "own",
    sql: "insert into setting (name, value) values ($1::text, $2::text) on conflict (name) do update set value = excluded.value",
  },
} as const satisfies Readonly<Record<string, Statement>>;

/**
 * Opens the session that writes positions. Once it is open, no earlier session can write: a session gives the lock back only after its last transaction, and this one now holds it.
 * `take`: this service becomes the one that writes. Otherwise it must be that already, on the same timeline, because its index and states in memory hold only what it wrote itself.
 */
export async function openWritingSession(order: Order, take: boolean): Promise<Session> {
  const name = `waybeam writer ${order.service}`;
  const session = await Session.open({
    address: addressOf(order),
    times: order.times,
    name,
    settings: writingSettings,
  });
  try {
    await session.run(step(sql.durable));
    await lock(session, order, name);
    await claim(session, order, take);
    return session;
  } catch (error) {
    session.destroy("it can't be the one that writes");
    // Whatever the cause, no device can be written, so this counts as an outage of the store.
    if (!(error instanceof EngineError) || error.trouble !== undefined) throw error;
    throw new EngineError({ message: error.message, trouble: "down", code: error.code });
  }
}

async function lock(session: Session, { times }: Order, name: string): Promise<void> {
  const tries = Math.ceil(times.connect / tryMs);
  for (let made = 0; made < tries; made++) {
    const [answer] = await session.run(step(sql.lock));
    if (answer?.rows[0]?.int() === 1) return;
    if (made * tryMs >= patienceMs) await session.run(step(sql.end, text(name)));
    await pause(tryMs);
  }
  const [answer] = await session.run(step(sql.holder));
  const holder = answer?.rows[0]?.text() ?? "another session";
  throw new EngineError({ message: `${holder} still writes to the database`, trouble: "down", code: "55P03" });
}

async function claim(session: Session, { service }: Order, take: boolean): Promise<void> {
  const ours = `${service} ${await timelineOf(session)}`;
  const [owner] = await session.run(step(sql.owner, text(ownerSetting)));
  if (take) await session.run(step(sql.own, text(ownerSetting), text(ours)));
  else if (owner?.rows[0]?.text() !== ours)
    throw new EngineError({
      message: takenOverText,
      trouble: "down",
      code: takenOver,
    });
}

/** SQLSTATEs of a server that does not tell its timeline: the function is missing, or we may not call it. */
const untold: ReadonlySet<unknown> = new Set(["0A000", "42501", "42883"]);

/** The server's timeline. A new one begins when a standby becomes the primary, and that standby may lack commits. */
async function timelineOf(session: Session): Promise<string> {
  try {
    const [timeline] = await session.run(step(sql.timeline));
    return timeline?.rows[0]?.text() ?? "";
  } catch (error) {
    if (error instanceof EngineError && untold.has(error.code)) return "";
    throw error;
  }
}
