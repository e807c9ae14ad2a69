import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { deleteCommands } from "../rows/commands.ts";
import type { Removals } from "../rows/device-removal.ts";
import { lockDevice } from "../rows/locks.ts";
import type { Schema } from "../schema.ts";
import { Background } from "./background.ts";
import type { Link, WriterCalls } from "./calls.ts";
import type { BlocksOfIndex, ChunkIndex } from "./chunk-index.ts";
import type { DeviceChunks } from "./device-chunks.ts";
import { isDown } from "./failures.ts";
import type { Locations } from "./locations.ts";
import type { Mutex } from "./mutex.ts";
import { deleteSpent } from "./spent-tail.ts";

/** Rows of one slice: a few milliseconds of the writer, so that commits go on in between. */
const sliceRows = 1000;
/** Pause after a failure, ms: the disk or lock that caused it needs some time. */
const retryMs = 1000;
/** The longest such pause, ms. Each failure doubles the pause, because each is a line of the log. */
const mostRetryMs = 600_000;
/** Pause of all other devices after the failure of one, ms. If thousands are damaged, the log has ten lines a second at most. */
const othersMs = 100;

/** What the purger works with. */
export interface PurgeParts {
  readonly writer: Link<WriterCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  readonly database: Kysely<Schema>;
  readonly locations: Pick<Locations, "forget" | "settle"> & { readonly blocks: BlocksOfIndex };
  readonly log: Log;
}

/** A device that is removed, or may be, and its chunks that are still to be deleted. */
interface Removed {
  readonly device: DeviceKey;
  readonly chunks: DeviceChunks[];
  /** Its removal was not answered, and nobody has looked since whether it was done. */
  inDoubt: boolean;
  /** Pause after its next failure that is its own, ms. */
  retryMs: number;
}

/** Deletes the records, commands, alerts, notices and refused reports of removed devices in the background, slice by slice. The next start continues. */
export class Purger implements Removals {
  readonly #parts: PurgeParts;
  readonly #queue: Removed[] = [];
  readonly #background = new Background(() => this.#work());
  /** One for each device that waits for its next try. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Pause of all after the next failure of the whole store, ms. */
  #downMs = retryMs;

  constructor(parts: PurgeParts) {
    this.#parts = parts;
  }

  /** Continues with what an earlier run left. */
  async resume(): Promise<void> {
    const rows = await this.#parts.database.selectFrom("purge").select("device").execute();
    for (const { device } of rows) this.add(device);
  }

  /** Deletes the records of a device that is removed. From now on nobody finds them. */
  add(device: DeviceKey): void {
    const removed: Removed = { device, chunks: [], inDoubt: false, retryMs };
    this.#take(removed);
    this.#queue.push(removed);
    this.#background.start();
  }

  /** Finds out whether a device is removed, and then deletes its records. */
  doubt(device: DeviceKey): void {
    this.#queue.push({ device, chunks: [], inDoubt: true, retryMs });
    this.#background.start();
  }

  /** Ends after the present slice. */
  async close(): Promise<void> {
    await this.#background.close();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#background.closed) return;
      const next = this.#queue.shift();
      if (next === undefined) return;
      try {
        await this.#purge(next);
        this.#downMs = retryMs;
      } catch (error) {
        const { device } = next;
        this.#parts.log.warn({ device, error: String(error) }, "records of a removed device can't be deleted now");
        if (isDown(error)) {
          // The others would fail, too, and wait as well. This one goes behind them, so that the next try is another one's if this one fails alone.
          this.#queue.push(next);
          await this.#background.pause(this.#downMs);
          this.#downMs = longer(this.#downMs);
          continue;
        }
        // The others go on meanwhile: what is damaged is its own.
        this.#tryLater(next);
        await this.#background.pause(othersMs);
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

  /** Takes a removed device out of memory. */
  #take({ device, chunks }: Removed): void {
    this.#parts.locations.forget(device);
    const found = this.#parts.index.remove(device);
    if (found !== undefined) chunks.push(found);
  }

  async #purge(removed: Removed): Promise<void> {
    const { device } = removed;
    const { turns, database } = this.#parts;
    if (removed.inDoubt && (await this.#isThere(device))) return;
    removed.inDoubt = false;
    await this.#parts.locations.blocks.whole();
    this.#take(removed);
    await this.#delete(removed);
    // A commit of unknown outcome before the removal may have left more.
    await turns.run(() => this.#parts.locations.settle());
    this.#take(removed);
    await this.#delete(removed);
    await deleteSpent(this.#parts.index.spent, device, (rows) =>
      turns.run(() => this.#parts.writer.call("purge", rows)),
    );
    await database.deleteFrom("spent").where("device", "=", device).execute();
    this.#parts.index.spent?.forget(device);
    await this.#deleteCommands(device);
    await this.#deleteRows("alert", device);
    await this.#deleteRows("notice", device);
    await this.#deleteRefused(device);
    await database.deleteFrom("shifts").where("device", "=", device).execute();
    await database.deleteFrom("patch").where("device", "=", device).execute();
    if (!this.#background.closed) await database.deleteFrom("purge").where("device", "=", device).execute();
  }

  async #delete({ chunks }: Removed): Promise<void> {
    const { turns, writer } = this.#parts;
    for (const some of chunks)
      while (some.length > 0 && !this.#background.closed) {
        const seqs = some.newest(sliceRows);
        await turns.run(() => writer.call("purge", seqs));
        some.removeNewest(seqs.length);
      }
  }

  async #deleteCommands(device: DeviceKey): Promise<void> {
    const { database } = this.#parts;
    for (let deleted = sliceRows; deleted === sliceRows && !this.#background.closed; ) {
      const slice = database.selectFrom("command").select("key").where("device", "=", device).limit(sliceRows);
      const keys = (await slice.execute()).map(({ key }) => key);
      await deleteCommands(database, keys);
      deleted = keys.length;
    }
  }

  async #deleteRefused(device: DeviceKey): Promise<void> {
    const { database } = this.#parts;
    for (let deleted = sliceRows; deleted === sliceRows && !this.#background.closed; ) {
      const slice = database.selectFrom("refused").select("seq").where("device", "=", device).limit(sliceRows);
      const [result] = await database.deleteFrom("refused").where("seq", "in", slice).execute();
      deleted = Number(result?.numDeletedRows ?? 0n);
    }
  }

  async #deleteRows(table: "alert" | "notice", device: DeviceKey): Promise<void> {
    const { database } = this.#parts;
    for (let deleted = sliceRows; deleted === sliceRows && !this.#background.closed; ) {
      const slice = database.selectFrom(table).select("key").where("device", "=", device).limit(sliceRows);
      const [result] = await database.deleteFrom(table).where("key", "in", slice).execute();
      deleted = Number(result?.numDeletedRows ?? 0n);
    }
  }
}

function longer(ms: number): number {
  return Math.min(2 * ms, mostRetryMs);
}
