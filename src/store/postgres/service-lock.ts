import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../ports/log.ts";
import { storeError } from "../locations/failures.ts";
import { endOf } from "./ending.ts";
import { messageOf } from "./errors.ts";
import { locks, ownerSetting } from "./orders.ts";
import { probeMs, type Times } from "./pool.ts";
import { DatabaseInUse } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";
import { takenOver, takenOverText } from "./writing-session.ts";

/** Time between two attempts to take the lock, ms. */
const tryMs = 250;
/** The connection is probed this often, because nothing else uses it, ms. */
const askMs = 10_000;

const tryLock = `select pg_try_advisory_lock(${locks.service}) as locked`;
/** Whether no session writes positions. The writer of a service that lost its lock may still do so. */
const isFree = `select pg_try_advisory_lock(${locks.writing}) and pg_advisory_unlock(${locks.writing}) as free`;
const holder = `select application_name as name, client_addr as address, backend_start as since from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) in (${locks.service}, ${locks.writing}) and pid <> pg_backend_pid()`;
/** Finds a row if another service was the last to write. */
const isOther = "select 1 from setting where name = $1 and not starts_with(value, $2)";
/** Lets the server end the session soon after the service's machine is gone, so that the lock does not outlive its service for long. */
const session = `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false), set_config('idle_session_timeout', '0', false)`;

/** What the lock works with. */
export interface ServiceLockParts {
  readonly address: ServerAddress;
  readonly times: Times;
  readonly log: Log;
}

/**
 * The lock of a service on its database, which one service holds at a time, by a connection that does nothing else. If the connection is lost, the lock is taken again as soon as the
 * server is back. Each attempt also looks whether another service has written meanwhile.
 */
export class ServiceLock {
  readonly #parts: ServiceLockParts;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #ended = new AbortController();
  #taking: Promise<void> | undefined;
  #own: { readonly service: string; readonly onTakenOver: (error: unknown) => void } | undefined;

  private constructor(parts: ServiceLockParts) {
    this.#parts = parts;
  }

  /** Takes the lock. Waits some seconds for a service that is just ending, then rejects with `DatabaseInUse`. */
  static async take(parts: ServiceLockParts): Promise<ServiceLock> {
    const lock = new ServiceLock(parts);
    for (let left = Math.ceil(parts.times.connect / tryMs); ; left--) {
      const found = await lock.#try(true);
      if (found === undefined) return lock;
      if (left <= 0) throw inUse(found);
      await pause(tryMs);
    }
  }

  get held(): boolean {
    return this.#client !== undefined;
  }

  /** From now on `service` is the one that writes. `onTakenOver` is called if the lock was lost and another service has become the writer since. */
  watch(service: string, onTakenOver: (error: unknown) => void): void {
    this.#own = { service, onTakenOver };
  }

  /** The writer checks this too, but only when it opens a session, and it can't open one while that of the other service is open. */
  async #look(client: pg.Client): Promise<void> {
    if (this.#own === undefined) return;
    const { service, onTakenOver } = this.#own;
    const { rows } = await client.query(isOther, [ownerSetting, `${service} `]);
    if (rows.length > 0) onTakenOver(storeError({ message: takenOverText, trouble: "down", code: takenOver }));
  }

  /** Tries once. Resolves with undefined when this service holds the lock, or else with the name of who does. `alone`: fails while any other session may still write, too. */
  async #try(alone: boolean): Promise<string | undefined> {
    const { address, times } = this.#parts;
    const client = new pg.Client({
      ...address,
      application_name: "waybeam service",
      keepAlive: true,
      keepAliveInitialDelayMillis: probeMs,
      connectionTimeoutMillis: times.connect,
      query_timeout: times.statement,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(session);
      const { rows } = await client.query<{ locked: boolean }>(tryLock);
      await this.#look(client);
      const isOurs = rows[0]?.locked === true;
      const free = isOurs && alone ? await client.query<{ free: boolean }>(isFree) : undefined;
      if (isOurs && free?.rows[0]?.free !== false) {
        this.#hold(client);
        return undefined;
      }
      const found = await client.query<{ name: string; address: string | null; since: Date }>(holder);
      const [other] = found.rows;
      await endOf(client, times.connect);
      if (other === undefined) return "another session";
      return `${other.name}${other.address === null ? "" : ` at ${other.address}`}, since ${other.since.toISOString()}`;
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
  }

  #hold(client: pg.Client): void {
    this.#client = client;
    client.once("end", () => this.#lost(client));
    this.#timer = setInterval(() => {
      client.query("select").catch(() => client.connection.stream.destroy());
    }, askMs).unref();
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#timer);
    this.#parts.log.warn(
      {},
      "the connection that holds the lock of the database was lost: nothing is written until it is held again",
    );
    this.#taking ??= this.#takeAgain().finally(() => {
      this.#taking = undefined;
    });
  }

  async #takeAgain(): Promise<void> {
    const { log } = this.#parts;
    const { signal } = this.#ended;
    let told = "";
    while (!signal.aborted) {
      const found = await this.#try(false).catch((error: Error) => `the server: ${messageOf(error)}`);
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

function inUse(found: string): DatabaseInUse {
  return new DatabaseInUse([
    {
      wrong: `Another service uses the database: ${found}`,
      advice:
        "Stop it first, or give this service a database of its own. Several services on one database are not supported yet.",
    },
  ]);
}
