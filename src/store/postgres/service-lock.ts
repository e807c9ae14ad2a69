import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../ports/log.ts";
import { locks } from "./advisory-locks.ts";
import { durable } from "./durable.ts";
import { endOf, endsWhenCutOff } from "./ending.ts";
import { messageOf, storeError } from "./errors.ts";
import { isSameServer, otherServer, type Run } from "./run.ts";
import { probeMs, type Times } from "./times.ts";
import { DatabaseInUse } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";

/** Time between two attempts to take the lock, ms. */
const tryMs = 250;
/** The connection is probed this often, because nothing else uses it, ms. */
const askMs = 10_000;

const tryLock = {
  shared: `select pg_try_advisory_lock_shared(${locks.service}) as locked`,
  alone: `select pg_try_advisory_lock(${locks.service}) as locked`,
};
/** Who holds the lock. Of a session of another role we may not see everything. */
const holder = `select concat(application_name, ' at ' || host(client_addr), to_char(backend_start at time zone 'UTC', '", since "YYYY-MM-DD"T"HH24:MI:SS"Z"')) as name
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = ${locks.service} and pid <> pg_backend_pid()
  order by application_name desc limit 1`;
const session = `select ${endsWhenCutOff}, set_config('idle_session_timeout', '0', false),
  set_config('default_transaction_read_only', 'off', false), ${durable}`;

/** What the lock works with. */
export interface ServiceLockParts {
  readonly address: ServerAddress;
  readonly times: Times;
  readonly log: Log;
  readonly run: Run;
  /** Whether others may have the lock, too, as the processes of a service do. */
  readonly how: "shared" | "alone";
}

/**
 * The lock of a database, which the processes of a service share, and which a move or a change of the secret key has
 * alone. A connection that does nothing else holds it. If the connection is lost, the lock is taken again as soon as
 * the server is back. Each attempt also looks whether a standby has taken the server's place.
 */
export class ServiceLock {
  readonly #parts: ServiceLockParts;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #ended = new AbortController();
  #taking: Promise<void> | undefined;
  #onTakenOver: ((error: unknown) => void) | undefined;

  private constructor(parts: ServiceLockParts) {
    this.#parts = parts;
  }

  /** Takes the lock. Waits some seconds for who is just ending, then rejects with `DatabaseInUse`. */
  static async take(parts: ServiceLockParts): Promise<ServiceLock> {
    const lock = new ServiceLock(parts);
    for (let left = Math.ceil(parts.times.connect / tryMs); ; left--) {
      const found = await lock.#try().catch((error: unknown) => {
        throw storeError(error, "asked");
      });
      if (found === undefined) return lock;
      if (left <= 0) throw inUse(found, parts.how);
      await pause(tryMs);
    }
  }

  /** `onTakenOver` is called if the lock was lost, and the server is another one since. */
  watch(onTakenOver: (error: unknown) => void): void {
    this.#onTakenOver = onTakenOver;
  }

  async #look(client: pg.Client): Promise<void> {
    if (await isSameServer(client, this.#parts.run)) return;
    const error = otherServer();
    this.#onTakenOver?.(error);
    throw error;
  }

  /** Tries once. Resolves with undefined when this process holds the lock, or else with the name of who does. */
  async #try(): Promise<string | undefined> {
    const { address, times, how } = this.#parts;
    const client = new pg.Client({
      ...address,
      application_name: how === "alone" ? "waybeam alone" : "waybeam service",
      keepAlive: true,
      keepAliveInitialDelayMillis: probeMs,
      connectionTimeoutMillis: times.connect,
      query_timeout: times.statement,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(session);
      const { rows } = await client.query<{ locked: boolean }>(tryLock[how]);
      await this.#look(client);
      if (rows[0]?.locked === true) {
        this.#hold(client);
        return undefined;
      }
      const found = await client.query<{ name: string }>(holder);
      await endOf(client, times.connect);
      return found.rows[0]?.name ?? "another session";
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
  }

  #hold(client: pg.Client): void {
    this.#client = client;
    client.once("end", () => this.#lost(client));
    let isAsked = false;
    this.#timer = setInterval(async () => {
      if (isAsked) return;
      isAsked = true;
      await client.query("select").catch(() => client.connection.stream.destroy());
      isAsked = false;
    }, askMs).unref();
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#timer);
    this.#parts.log.warn({}, "the connection that holds the lock of the database was lost; it is taken again");
    this.#taking ??= this.#takeAgain().finally(() => {
      this.#taking = undefined;
    });
  }

  async #takeAgain(): Promise<void> {
    const { log } = this.#parts;
    const { signal } = this.#ended;
    let told = "";
    while (!signal.aborted) {
      const found = await this.#try().catch((error: Error) => `the server: ${messageOf(error)}`);
      if (found === undefined) return log.info({}, "the lock of the database is held again");
      if (found !== told) log.warn({ by: found }, "the lock of the database can't be taken");
      told = found;
      await pause(tryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async release(): Promise<void> {
    this.#ended.abort();
    await this.#taking;
    const client = this.#client;
    this.#client = undefined;
    clearInterval(this.#timer);
    if (client !== undefined) await endOf(client, this.#parts.times.connect);
  }
}

function inUse(found: string, how: ServiceLockParts["how"]): DatabaseInUse {
  const problem =
    how === "alone"
      ? {
          wrong: `A service uses the database: ${found}`,
          advice: "Stop all of its processes first, or name another database.",
        }
      : {
          wrong: `Another program has the database for itself: ${found}`,
          advice: "Wait until the move or the change of the secret key has ended.",
        };
  return new DatabaseInUse([problem]);
}
