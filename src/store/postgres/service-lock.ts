import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../ports/log.ts";
import { storeError } from "../failures.ts";
import { locks } from "./advisory-locks.ts";
import { durable } from "./durable.ts";
import { endOf, endsWhenCutOff } from "./ending.ts";
import { messageOf, storeError as storeErrorOf } from "./errors.ts";
import { isOwner, ownerSetting, ownerTextBy, takenOver, takenOverText } from "./ownership.ts";
import { probeMs, type Times } from "./times.ts";
import { DatabaseInUse } from "./unusable.ts";
import type { ServerAddress } from "./url.ts";

/** Time between two attempts to take the lock, ms. */
const tryMs = 250;
/** The connection is probed this often, because nothing else uses it, ms. */
const askMs = 10_000;

const tryLock = `select pg_try_advisory_lock(${locks.service}) as locked`;
/** Whether no session writes. Those of a service that lost its lock may still do so. */
const tryAll = `select pg_try_advisory_lock(${locks.rows}) as free`;
const giveBack = `select pg_advisory_unlock(${locks.rows})`;
/** Who holds one of the locks. Of a session of another role we may not see everything. */
const holder = `select concat(application_name, ' at ' || host(client_addr), to_char(backend_start at time zone 'UTC', '", since "YYYY-MM-DD"T"HH24:MI:SS"Z"')) as name
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) in (${locks.service}, ${locks.rows}) and pid <> pg_backend_pid()
  order by objid limit 1`;
/** A database without tables has no service yet. */
const hasOwner = "select to_regclass(quote_ident(current_schema()) || '.setting') is not null as found";
const own = "insert into setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value";
const session = `select ${endsWhenCutOff}, set_config('idle_session_timeout', '0', false),
  set_config('default_transaction_read_only', 'off', false), ${durable}`;

/** What the lock works with. */
export interface ServiceLockParts {
  readonly address: ServerAddress;
  readonly times: Times;
  readonly log: Log;
  /** The run of the service or of a move: a name that no other has. */
  readonly service: string;
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
  #onTakenOver: ((error: unknown) => void) | undefined;

  private constructor(parts: ServiceLockParts) {
    this.#parts = parts;
  }

  /** Takes the lock and makes this service the one that writes. Waits some seconds for a service that is just ending, then rejects with `DatabaseInUse`. */
  static async take(parts: ServiceLockParts): Promise<ServiceLock> {
    const lock = new ServiceLock(parts);
    for (let left = Math.ceil(parts.times.connect / tryMs); ; left--) {
      const found = await lock.#try(true).catch((error: unknown) => {
        throw storeErrorOf(error, "asked");
      });
      if (found === undefined) return lock;
      if (left <= 0) throw inUse(found);
      await pause(tryMs);
    }
  }

  /** `onTakenOver` is called if the lock was lost and another service has become the writer since. */
  watch(onTakenOver: (error: unknown) => void): void {
    this.#onTakenOver = onTakenOver;
  }

  /** The writer checks this too, but only when it opens a session, and it can't open one while that of the other service is open. */
  async #look(client: pg.Client): Promise<void> {
    if (this.#onTakenOver === undefined || (await isOwner(client, this.#parts.service))) return;
    this.#onTakenOver(storeError({ message: takenOverText, trouble: "down", code: takenOver }));
  }

  /** Makes this service the one that writes, before it changes anything. Resolves with false while any other session may still write. */
  async #claim(client: pg.Client): Promise<boolean> {
    const { rows } = await client.query<{ free: boolean }>(tryAll);
    if (rows[0]?.free !== true) return false;
    const { rows: tables } = await client.query<{ found: boolean }>(hasOwner);
    if (tables[0]?.found === true) await this.#own(client);
    await client.query(giveBack);
    return true;
  }

  async #own(client: pg.Client): Promise<void> {
    await client.query(own, [ownerSetting, await ownerTextBy(client, this.#parts.service)]);
  }

  /** Makes this service the one that writes, in tables that were made after the lock was taken. */
  async own(): Promise<void> {
    try {
      if (this.#client !== undefined) return await this.#own(this.#client);
    } catch (error) {
      throw storeErrorOf(error, "asked");
    }
    throw storeError({ message: "the lock of the database was lost", trouble: "down", code: undefined });
  }

  /** Tries once. Resolves with undefined when this service holds the lock, or else with the name of who does. `claims`: the service becomes the one that writes. */
  async #try(claims: boolean): Promise<string | undefined> {
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
      if (isOurs && (!claims || (await this.#claim(client)))) {
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
