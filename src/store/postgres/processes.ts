import { setTimeout as pause } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { type BucketsHeir, bucketOf, type Processes } from "../../ports/processes.ts";
import { storeError } from "../failures.ts";
import type { Schema } from "../schema.ts";
import { PostgresTables } from "./dialect.ts";
import { makePool } from "./pool.ts";
import { areUnaware, changed, fairShare, isIn, leave, type Tended, tend } from "./process-rows.ts";
import { sessionName } from "./process-tables.ts";
import { Rounds } from "./rounds.ts";
import { type Run, takenOver } from "./run.ts";
import { Telling } from "./telling.ts";
import type { ServerAddress } from "./url.ts";

/** How often a process says that it is alive, ms. */
const tendMs = 1000;
/** How often it asks what others told: a notification may be lost, and not every pooler passes it on, ms. */
const pollMs = 500;
/** How often it looks at its start whether all others know of it, ms. */
const knownMs = 50;
/**
 * Who was cut off together with all others must be back before they miss it, so a connection that hangs is given up
 * early. What hangs in a transaction is ended by the server, with its lock.
 */
const times = { connect: 2000, statement: 1500, idle: 2000 };

const replacedText =
  "other processes of the service have taken this one's place, since they missed it for some seconds";

/** What the processes of a database work with. */
export interface ProcessesParts {
  readonly address: ServerAddress;
  readonly log: Log;
  readonly run: Run;
  /** Called where others have taken this process's place. */
  readonly onTakenOver: (error: unknown) => void;
}

/**
 * The processes of a service on a PostgreSQL database: a row for each, which it renews over a connection of its own.
 */
export class PostgresProcesses implements Processes {
  readonly name: string;
  heir: BucketsHeir | undefined;
  readonly #parts: ProcessesParts;
  readonly #tables: PostgresTables;
  readonly #telling: Telling;
  readonly #tending = new Rounds(() => this.#tendOn(), tendMs);
  readonly #polling = new Rounds(() => this.#poll(), pollMs);
  readonly #onTold: ((event: BusEvent, teller: string) => void)[] = [];
  readonly #onOthers: ((others: readonly string[]) => void)[] = [];
  #others: readonly string[] = [];
  #isNew = true;
  #hasLeft = false;
  #inTimeSince = 0;
  readonly #followed = new Set<number>();
  /** Shares that are to go to others. True: everything of them is committed. */
  readonly #leaving = new Map<number, boolean>();
  #isSilent = false;

  constructor(parts: ProcessesParts) {
    const { address, log, run } = parts;
    this.name = run.name;
    this.#parts = parts;
    const own = { ...address, application_name: sessionName + run.name };
    const pool = makePool({ address: own, connections: 1, times, log, run });
    pool.on("connect", (client) =>
      client.on("notification", ({ payload }) => (payload === changed ? this.#tending : this.#polling).now()),
    );
    this.#tables = new PostgresTables(pool, times.statement);
    this.#telling = new Telling(this.#tables, run.name, log);
  }

  get others(): readonly string[] {
    return this.#others;
  }

  follows(device: DeviceKey): boolean {
    return this.#followed.has(bucketOf(device));
  }

  tell(event: BusEvent): void {
    if (this.#others.length > 0) this.#telling.add(event);
  }

  onTold(listener: (event: BusEvent, teller: string) => void): void {
    this.#onTold.push(listener);
  }

  onOthers(listener: (others: readonly string[]) => void): void {
    this.#onOthers.push(listener);
  }

  /** Resolves when all others know of this process, and so tell it everything. */
  async start(): Promise<void> {
    await this.#telling.begin();
    const tended = await this.#tend();
    this.#isNew = false;
    this.#tending.now();
    this.#polling.now();
    while (tended !== undefined && (await areUnaware(this.#tables, tended.now))) await pause(knownMs);
  }

  async #tend(): Promise<Tended | undefined> {
    const given = [...this.#leaving].flatMap(([bucket, isCommitted]) => (isCommitted ? [bucket] : []));
    const tending = { name: this.name, isNew: this.#isNew, inTimeSince: this.#inTimeSince, given };
    const tended = await this.#tables.transaction().execute((transaction) => tend(transaction, tending));
    if (tended === undefined) this.#replaced();
    else {
      this.#inTimeSince = tended.inTimeSince;
      for (const bucket of given) this.#leaving.delete(bucket);
      this.#share(tended);
    }
    return tended;
  }

  async #tendOn(): Promise<void> {
    try {
      await this.#tend();
      this.#isSilent = false;
    } catch (error) {
      if (!this.#isSilent)
        this.#parts.log.warn({ error: String(error) }, "this process can't tell the others that it is alive");
      this.#isSilent = true;
    }
  }

  #replaced(): void {
    this.#followed.clear();
    void this.#tending.end();
    this.#parts.onTakenOver(replaced());
  }

  #share({ names, buckets }: Tended): void {
    const others = names.filter((name) => name !== this.name);
    if (others.join() !== this.#others.join()) {
      this.#others = others;
      for (const listener of this.#onOthers) listener(others);
    }
    const gained = buckets.filter((bucket) => !this.#followed.has(bucket) && !this.#leaving.has(bucket));
    for (const bucket of gained) this.#followed.add(bucket);
    if (gained.length > 0) this.heir?.gained(gained);
    const surplus = [...this.#followed].slice(fairShare(names.length));
    if (surplus.length > 0) void this.#lose(surplus);
  }

  async #lose(buckets: readonly number[]): Promise<void> {
    for (const bucket of buckets) {
      this.#followed.delete(bucket);
      this.#leaving.set(bucket, false);
    }
    try {
      await this.heir?.lose(buckets);
      for (const bucket of buckets) this.#leaving.set(bucket, true);
    } catch (error) {
      // They are still this process's, and go when they can.
      for (const bucket of buckets) this.#leaving.delete(bucket);
      this.#parts.log.warn({ error: String(error) }, "devices can't be handed to another process now");
    }
    this.#tending.now();
  }

  async #poll(): Promise<void> {
    try {
      for (const { teller, events } of await this.#telling.read())
        for (const event of events) for (const listener of this.#onTold) listener(event, teller);
    } catch {
      // It asks again, and the log says already that the server does not answer.
    }
  }

  /**
   * Rejects in a transaction of a follower that was replaced. One that has not started yet is alone, as tools and tests
   * are.
   */
  async fence(transaction: Transaction<Schema>): Promise<void> {
    if (!this.#isNew && !(await isIn(transaction, this.name))) throw replaced();
  }

  async stop(): Promise<void> {
    await this.#tending.end();
    this.#followed.clear();
    if (this.#isNew || this.#hasLeft) return;
    this.#hasLeft = true;
    await this.#tables
      .transaction()
      .execute((transaction) => leave(transaction, this.name))
      .catch((error: unknown) =>
        this.#parts.log.warn({ error: String(error) }, "the others will miss this process before they take its place"),
      );
  }

  /** Tells what is left. */
  async close(): Promise<void> {
    await Promise.all([this.stop(), this.#polling.end(), this.#telling.end()]);
    await this.#tables.destroy();
  }
}

function replaced(): Error {
  return storeError({ message: replacedText, trouble: "down", code: takenOver });
}
