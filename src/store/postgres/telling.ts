import { type Kysely, sql } from "kysely";
import type { BusEvent } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import type { Schema } from "../schema.ts";
import { locks } from "./advisory-locks.ts";
import { channel } from "./process-rows.ts";
import { toldIn, Untold } from "./told.ts";

/** What is to be told is gathered for so long, ms. */
const gatherMs = 100;

/** Tells the other processes what happened here, in rows that they read. */
export class Telling {
  readonly #tables: Kysely<Schema>;
  readonly #name: string;
  readonly #log: Pick<Log, "warn">;
  readonly #untold = new Untold();
  /** What is being told, and how many of these there were. */
  #batch: string | undefined;
  #batches = 0;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();
  /** Number of the last row that this process has read. */
  #read = 0;

  constructor(tables: Kysely<Schema>, name: string, log: Pick<Log, "warn">) {
    this.#tables = tables;
    this.#name = name;
    this.#log = log;
  }

  add(event: BusEvent): void {
    this.#untold.add(event);
    this.#timer ??= this.#later();
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#writing = this.#write();
    }, gatherMs);
  }

  async #write(): Promise<void> {
    try {
      if (this.#batch === undefined) {
        this.#batch = this.#untold.take();
        this.#batches++;
      }
      await this.#insert(this.#batch);
      this.#batch = undefined;
      this.#hasFailed = false;
    } catch (error) {
      // It is tried again ten times a second, and stored once.
      if (!this.#hasFailed)
        this.#log.warn({ error: String(error) }, "the other processes can't be told what happened here; trying again");
      this.#hasFailed = true;
    }
    this.#timer = this.#batch === undefined && this.#untold.isEmpty ? undefined : this.#later();
  }

  /** The lock orders the commits as the numbers. */
  async #insert(events: string): Promise<void> {
    await sql`with turn as materialized (select pg_advisory_xact_lock(${sql.raw(locks.tell)}))
      insert into process_event (teller, nth, events) select ${this.#name}, ${this.#batches}::bigint, ${events} from turn
      on conflict do nothing returning pg_notify(${channel}, '')`.execute(this.#tables);
  }

  /** What was told until now is not for this process. */
  async begin(): Promise<void> {
    const last = sql<{ last: number }>`select coalesce(max(number), 0) as last from process_event`;
    this.#read = (await last.execute(this.#tables)).rows[0]?.last ?? 0;
  }

  /** What others have told since the last call. */
  async read(): Promise<readonly { readonly teller: string; readonly events: readonly BusEvent[] }[]> {
    const { rows } = await sql<{ number: number; teller: string; events: string }>`
      select number, teller, events from process_event where number > ${this.#read} and teller <> ${this.#name} order by number`.execute(
      this.#tables,
    );
    this.#read = rows.at(-1)?.number ?? this.#read;
    return rows.map(({ teller, events }) => ({ teller, events: toldIn(events) }));
  }

  /** Tells what is left. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    clearTimeout(this.#timer);
    // What could not be told before, and what came since.
    for (let left = 2; left > 0 && (this.#batch !== undefined || !this.#untold.isEmpty); left--) {
      await this.#write();
      clearTimeout(this.#timer);
    }
  }
}
