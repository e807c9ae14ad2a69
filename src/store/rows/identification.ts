import { setTimeout as pause } from "node:timers/promises";
import type { Kysely } from "kysely";
import { StoreUnavailable } from "../../ports/store.ts";
import type { DeviceRow, Schema } from "../schema.ts";

/**
 * Identifiers in one query. Rows of devices have some kilobytes, and texts of queries must not differ by the thousand.
 */
const mostIdentifiers = 64;
/**
 * Pause after each query while more is asked for, ms. Waking the reader takes a tenth of a millisecond of everybody's
 * time, so it is done for many at once.
 */
const gatherMs = 4;

interface Ask {
  readonly ids: readonly string[];
  resolve(row: DeviceRow | undefined): void;
  reject(error: unknown): void;
}

type Rows = ReadonlyMap<string, DeviceRow>;

/**
 * Finds devices by the identifiers that trackers report. The first goes out at once, and what is asked for meanwhile
 * goes out together a little later: strangers may ask ten thousand times a second, and a query for each would keep
 * everybody else waiting.
 */
export class Identification {
  readonly #database: Kysely<Schema>;
  #waiting: Ask[] = [];
  #asking = false;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  /** The row of the device that has one of these as its id or alias; the first that matches. */
  find(ids: readonly string[]): Promise<DeviceRow | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ids, resolve, reject });
      if (!this.#asking) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.length > 0) {
      const asks = this.#waiting;
      this.#waiting = [];
      for (let from = 0; from < asks.length; ) {
        let to = from + 1;
        let count = asks[from]?.ids.length ?? 0;
        for (let next = asks[to]; next !== undefined && count + next.ids.length <= mostIdentifiers; next = asks[++to])
          count += next.ids.length;
        await this.#answer(asks.slice(from, to));
        from = to;
      }
      await pause(gatherMs);
    }
    this.#asking = false;
  }

  /**
   * Where a query for several fails, each is asked for alone: one row that can't be read stops nobody else. Where the
   * store is down, all fail.
   */
  async #answer(asks: readonly Ask[]): Promise<void> {
    try {
      const rows = await this.#rows(asks.flatMap(({ ids }) => ids));
      for (const { ids, resolve } of asks) resolve(firstOf(ids, rows));
    } catch (error) {
      const isDown = error instanceof StoreUnavailable && error.trouble === "down";
      if (asks.length === 1 || isDown) for (const { reject } of asks) reject(error);
      else for (const ask of asks) await this.#answer([ask]);
    }
  }

  async #rows(ids: readonly string[]): Promise<Rows> {
    const rows = await this.#database
      .selectFrom("device_identifier")
      .innerJoin("device", "device.key", "device_identifier.device")
      .selectAll("device")
      .select("device_identifier.identifier")
      .where("device_identifier.identifier", "in", padded(ids))
      .execute();
    return new Map(rows.map((row) => [row.identifier, row]));
  }
}

/** As many as the next power of two, the last one repeated: a query's text depends on how many there are. */
function padded(ids: readonly string[]): readonly string[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  return Array.from({ length }, (_, index) => ids[Math.min(index, ids.length - 1)] ?? "");
}

function firstOf(ids: readonly string[], rows: Rows): DeviceRow | undefined {
  for (const id of ids) {
    const row = rows.get(id);
    if (row !== undefined) return row;
  }
  return undefined;
}
