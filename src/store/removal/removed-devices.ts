import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import type { PositionStore } from "../../ports/positions.ts";
import { isDown } from "../failures.ts";
import { deleteCommands } from "../rows/commands.ts";
import type { Removals } from "../rows/device-removal.ts";
import { lockDevice } from "../rows/locks.ts";
import type { Schema } from "../schema.ts";
import { Background } from "./background.ts";

/** Rows of one slice: a few milliseconds of the writer, so that others go on in between. */
const sliceRows = 1000;
/** Pause after a failure, ms: the disk or lock that caused it needs some time. */
const retryMs = 1000;
/** The longest such pause, ms. Each failure doubles the pause, because each is a line of the log. */
const mostRetryMs = 600_000;
/**
 * Pause of all other devices after the failure of one, ms. If thousands are damaged, the log has ten lines a second at
 * most.
 */
const othersMs = 100;

/** What deleting works with. */
export interface RemovalParts {
  readonly database: Kysely<Schema>;
  readonly positions: Pick<PositionStore, "deleteBefore">;
  readonly log: Log;
}

/** A device that is removed, or may be. */
interface Removed {
  readonly device: DeviceKey;
  /** Its removal was not answered, and nobody has looked since whether it was done. */
  inDoubt: boolean;
  /** Pause after its next failure that is its own, ms. */
  retryMs: number;
}

/**
 * Deletes the positions, days, commands, alerts, notices and refused reports of removed devices in the background,
 * slice by slice. The next start continues.
 */
export class RemovedDevices implements Removals {
  readonly #parts: RemovalParts;
  readonly #queue: Removed[] = [];
  readonly #background = new Background(() => this.#work());
  /** One for each device that waits for its next try. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Pause of all after the next failure of the whole store, ms. */
  #downMs = retryMs;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /** Continues with what an earlier run left. */
  async resume(): Promise<void> {
    const rows = await this.#parts.database.selectFrom("purge").select("device").execute();
    for (const { device } of rows) this.add(device);
  }

  add(device: DeviceKey): void {
    this.#queue.push({ device, inDoubt: false, retryMs });
    this.#background.start();
  }

  doubt(device: DeviceKey): void {
    this.#queue.push({ device, inDoubt: true, retryMs });
    this.#background.start();
  }

  /** Ends after the present slice. */
  async close(): Promise<void> {
    await this.#background.close();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #work(): Promise<void> {
    for (;;) {
      const next = this.#background.closed ? undefined : this.#queue.shift();
      if (next === undefined) return;
      try {
        await this.#delete(next);
        this.#downMs = retryMs;
      } catch (error) {
        const { device } = next;
        this.#parts.log.warn({ device, error: String(error) }, "records of a removed device can't be deleted now");
        if (isDown(error)) {
          // The others would fail, too, and wait as well. This one goes behind them, so that the next try is another
          // one's if this one fails alone.
          this.#queue.push(next);
          await this.#background.pause(this.#downMs);
          this.#downMs = longer(this.#downMs);
        } else {
          // The others go on meanwhile: what is damaged is its own.
          this.#tryLater(next);
          await this.#background.pause(othersMs);
        }
      }
    }
  }

  #tryLater(removed: Removed): void {
    const again = () => {
      this.#timers.delete(timer);
      this.#queue.push(removed);
      this.#background.start();
    };
    const timer = setTimeout(again, removed.retryMs).unref();
    this.#timers.add(timer);
    removed.retryMs = longer(removed.retryMs);
  }

  /** Whether a device is there. A removal that is still under way holds its row, and is waited for. */
  #isThere(device: DeviceKey): Promise<boolean> {
    return this.#parts.database.transaction().execute((transaction) => lockDevice(transaction, device));
  }

  async #delete(removed: Removed): Promise<void> {
    const { device } = removed;
    const { database, positions } = this.#parts;
    if (removed.inDoubt && (await this.#isThere(device))) return;
    removed.inDoubt = false;
    await positions.deleteBefore(device, Number.POSITIVE_INFINITY);
    await this.#slices(() => this.#deleteCommands(device));
    await this.#slices(() => this.#deleteRows("alert", device));
    await this.#slices(() => this.#deleteRows("notice", device));
    await this.#slices(() => this.#deleteRefused(device));
    await database.deleteFrom("device_day").where("device", "=", device).execute();
    if (!this.#background.closed) await database.deleteFrom("purge").where("device", "=", device).execute();
  }

  /** Repeats a slice until it is not full. */
  async #slices(slice: () => Promise<number>): Promise<void> {
    for (let deleted = sliceRows; deleted === sliceRows && !this.#background.closed; ) deleted = await slice();
  }

  async #deleteCommands(device: DeviceKey): Promise<number> {
    const { database } = this.#parts;
    const slice = database.selectFrom("command").select("key").where("device", "=", device).limit(sliceRows);
    const keys = (await slice.execute()).map(({ key }) => key);
    await deleteCommands(database, keys);
    return keys.length;
  }

  async #deleteRefused(device: DeviceKey): Promise<number> {
    const { database } = this.#parts;
    const slice = database.selectFrom("refused").select("seq").where("device", "=", device).limit(sliceRows);
    const [result] = await database.deleteFrom("refused").where("seq", "in", slice).execute();
    return Number(result?.numDeletedRows ?? 0n);
  }

  async #deleteRows(table: "alert" | "notice", device: DeviceKey): Promise<number> {
    const { database } = this.#parts;
    const slice = database.selectFrom(table).select("key").where("device", "=", device).limit(sliceRows);
    const [result] = await database.deleteFrom(table).where("key", "in", slice).execute();
    return Number(result?.numDeletedRows ?? 0n);
  }
}

function longer(ms: number): number {
  return Math.min(2 * ms, mostRetryMs);
}
