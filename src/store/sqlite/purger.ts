import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { deleteCommands } from "../rows/commands.ts";
import type { Schema } from "../schema.ts";
import { Background } from "./background.ts";
import type { ChunkIndex, DeviceChunks } from "./chunk-index.ts";
import type { WriterCalls } from "./messages.ts";
import type { Mutex } from "./mutex.ts";
import type { WorkerLink } from "./worker-link.ts";

/** Rows of one slice: a few milliseconds of the writer, so that commits go on in between. */
const sliceRows = 1000;
/** After a failure: the disk or lock that caused it needs some time. */
const retryMs = 1000;

/** What the purger works with. */
export interface PurgeParts {
  readonly writer: WorkerLink<WriterCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  readonly database: Kysely<Schema>;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  readonly log: Log;
}

/** Deletes the records, commands, alerts, notices and refused reports of removed devices in the background, slice by slice. What is left to do is on disk, so a restart goes on with it. */
export class Purger {
  readonly #parts: PurgeParts;
  readonly #queue: { readonly device: DeviceKey; readonly chunks: DeviceChunks | undefined }[] = [];
  readonly #background = new Background(() => this.#work());

  constructor(parts: PurgeParts) {
    this.#parts = parts;
  }

  /** Goes on with what an earlier run left. */
  async resume(): Promise<void> {
    const rows = await this.#parts.database.selectFrom("purge").select("device").execute();
    for (const { device } of rows) this.add(device);
  }

  /** Deletes the records of a device that is removed. From now on nobody finds them. */
  add(device: DeviceKey): void {
    this.#queue.push({ device, chunks: this.#parts.index.remove(device) });
    this.#background.start();
  }

  /** Ends after the present slice. */
  close(): Promise<void> {
    return this.#background.close();
  }

  async #work(): Promise<void> {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined || this.#background.closed) return;
      try {
        await this.#purge(next.device, next.chunks);
        this.#queue.shift();
      } catch (error) {
        const { device } = next;
        this.#parts.log.warn({ device, error: String(error) }, "records of a removed device can't be deleted now");
        await this.#background.pause(retryMs);
      }
    }
  }

  async #purge(device: DeviceKey, chunks: DeviceChunks | undefined): Promise<void> {
    const { turns, index, database } = this.#parts;
    await this.#delete(chunks);
    // A commit of unknown outcome before the removal may have left more.
    await turns.run(() => this.#parts.settle());
    await this.#delete(index.remove(device));
    await this.#deleteCommands(device);
    await this.#deleteRows("alert", device);
    await this.#deleteRows("notice", device);
    await this.#deleteRefused(device);
    await database.deleteFrom("shifts").where("device", "=", device).execute();
    await database.deleteFrom("patch").where("device", "=", device).execute();
    if (!this.#background.closed) await database.deleteFrom("purge").where("device", "=", device).execute();
  }

  async #delete(chunks: DeviceChunks | undefined): Promise<void> {
    const { turns, writer } = this.#parts;
    while (chunks !== undefined && chunks.length > 0 && !this.#background.closed) {
      const seqs = chunks.newest(sliceRows);
      await turns.run(() => writer.call("purge", seqs));
      chunks.removeNewest(seqs.length);
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
