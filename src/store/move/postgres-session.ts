import type { Log } from "../../ports/log.ts";
import { checkedAddress } from "../postgres/checks.ts";
import { cutOffTimes } from "../postgres/ending.ts";
import { locks } from "../postgres/orders.ts";
import { ServiceLock } from "../postgres/service-lock.ts";
import { type Times, usualTimes } from "../postgres/times.ts";
import { DatabaseInUse } from "../postgres/unusable.ts";
import { parseUrl, type ServerAddress } from "../postgres/url.ts";
import { Session, step } from "../postgres/wire/session.ts";

/** Large tables take their time to be analysed, and nobody waits for an answer. */
const times: Times = { ...usualTimes, statement: 3_600_000 };

const settings = {
  client_min_messages: "warning",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  synchronous_commit: "on",
  statement_timeout: "0",
  lock_timeout: "0",
  idle_session_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  jit: "off",
  // Rows are found in the order of a key. No table was analysed yet.
  enable_seqscan: "off",
  enable_sort: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
  ...cutOffTimes,
};

const lockWriting = {
  name: "lock_writing",
  sql: `select (pg_try_advisory_lock(${locks.writing}) and pg_try_advisory_lock(${locks.rows}))::int::bigint`,
};

/** A database that nobody else uses. */
export interface HeldDatabase {
  readonly address: ServerAddress;
  readonly session: Session;
  /** For people: without the password. */
  readonly shown: string;
  close(): Promise<void>;
}

/**
 * Takes all locks that a service has on its database. Those of who writes are the session's own: as long as the session can do anything, no service starts, also where the
 * connection with the other lock was lost. Rejects as `checkedAddress` does, and with `DatabaseInUse`.
 */
export async function holdDatabase(url: string, log: Log, reads: boolean): Promise<HeldDatabase> {
  const address = await checkedAddress(url, usualTimes, !reads);
  const lock = await ServiceLock.take({ address, times: usualTimes, log });
  try {
    const mode = { default_transaction_read_only: reads ? "on" : "off" };
    const session = await Session.open({
      address,
      times,
      name: "waybeam move-store",
      settings: { ...settings, ...mode },
    });
    const parsed = parseUrl(url);
    const held = {
      address,
      session,
      shown: "problems" in parsed ? "" : `the database ${parsed.shown}`,
      async close() {
        await session.end();
        await lock.release();
      },
    };
    try {
      const [answer] = await session.run(step(lockWriting));
      if (answer?.rows[0]?.int() === 1) return held;
      throw new DatabaseInUse([{ wrong: "Another service uses the database", advice: "Stop it first." }]);
    } catch (error) {
      await session.end();
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}
