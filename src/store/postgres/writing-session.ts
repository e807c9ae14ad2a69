import { setTimeout as pause } from "node:timers/promises";
import { EngineError } from "../locations/failures.ts";
import { writingSettings } from "./connection.ts";
import { durable } from "./durable.ts";
import { addressOf, locks, type Order, ownerSetting } from "./orders.ts";
import { ownerText, takenOver, takenOverText } from "./ownership.ts";
import type { Statement } from "./wire/messages.ts";
import { changedBy, Session, step } from "./wire/session.ts";
import { text } from "./wire/values.ts";

/** Time between two attempts to take the lock, ms. */
const tryMs = 50;
/** An earlier session of ours that still holds the lock is terminated after this time, ms. */
const patienceMs = 500;

const sql = {
  lock: { name: "lock", sql: `select pg_try_advisory_lock(${locks.writing})::int::bigint` },
  durable: { name: "durable", sql: `select ${durable}` },
  // A session that waits for a standby is spared: the next one would wait for it, too.
  end: {
    name: "end_own",
    sql: `select count(pg_terminate_backend(pid)) from pg_stat_activity
      where application_name = $1::text and pid <> pg_backend_pid() and wait_event is distinct from 'SyncRep'`,
  },
  holder: {
    name: "holder",
    sql: `select application_name || coalesce(' at ' || host(client_addr), '') from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32 | objid::bigint) = ${locks.writing} limit 1`,
  },
  take: {
    name: "take",
    sql: "insert into setting (name, value) values ($1::text, $2::text) on conflict (name) do update set value = excluded.value",
  },
  own: { name: "own", sql: "update setting set value = value where name = $1::text and value = $2::text" },
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
    settings: writingSettings(order.times),
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

/**
 * Commits in both cases. Then a synchronous standby has everything that was committed before, too: only after that may the next call acknowledge what it finds done by a call whose wait
 * for the standby was cut off.
 */
async function claim(session: Session, { service }: Order, take: boolean): Promise<void> {
  const ours = await ownerText(service, async (question) => {
    const [answer] = await session.run(step({ name: "", sql: question }));
    return answer?.rows[0]?.text() ?? "";
  });
  const [owned] = await session.run(step(take ? sql.take : sql.own, text(ownerSetting), text(ours)));
  if (owned === undefined || changedBy(owned) !== 1)
    throw new EngineError({ message: takenOverText, trouble: "down", code: takenOver });
}
