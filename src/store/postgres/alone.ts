import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { locks } from "./advisory-locks.ts";
import { endOf } from "./ending.ts";
import { storeError } from "./errors.ts";
import type { Times } from "./times.ts";
import { DatabaseInUse } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";

/** How often it is tried to get the lock, ms. */
const tryMs = 100;
/** How long another program is waited for, ms. */
const patienceMs = 60_000;
/** Time between two questions to the server whether it still answers, while the work goes on, ms. */
const askMs = 2000;

const tryLock = `select pg_try_advisory_lock(${locks.opening}) as locked`;

/** What is needed to work alone on a database. */
export interface AloneParts {
  readonly address: ServerAddress;
  readonly times: Times;
  /** Breaks what the work waits for. */
  lost(): void;
}

/**
 * Runs what one program at a time does to a database. It may take as long as it needs while the server answers others.
 * Rejects with `StoreUnavailable` where the server hangs, and with `DatabaseInUse` where another program does not end.
 */
export async function alone<T>({ address, times, lost }: AloneParts, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...address,
    keepAlive: true,
    connectionTimeoutMillis: times.connect,
    query_timeout: times.statement,
  });
  client.on("error", () => {});
  const ended = new AbortController();
  let failure: unknown;
  try {
    await told(client.connect());
    await told(client.query("select set_config('idle_session_timeout', '0', false)"));
    await takeLock(client);
    void untilLost(client, ended.signal).catch((error: unknown) => {
      failure = error;
      lost();
    });
    return await work().catch((error: unknown) => {
      throw failure ?? error;
    });
  } finally {
    ended.abort();
    // The lock ends with its connection.
    await endOf(client, times.connect);
  }
}

/** Asks the server now and then. Rejects when it does not answer. */
async function untilLost(client: pg.Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(askMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await told(client.query("select"));
  }
}

async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw storeError(error, "asked");
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  for (let left = patienceMs / tryMs; ; left--) {
    const { rows } = await told(client.query<{ locked: boolean }>(tryLock));
    if (rows[0]?.locked === true) return;
    if (left <= 0)
      throw new DatabaseInUse([
        { wrong: "Another program brings the database up to date", advice: "Wait until it has done that." },
      ]);
    await pause(tryMs);
  }
}
