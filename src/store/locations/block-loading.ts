import type { DeviceCommit } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { scanColumns } from "./calls.ts";
import type { BlocksOfIndex } from "./chunk-index.ts";
import { type LoadParts, putChunks } from "./load-chunks.ts";
import type { Mutex } from "./mutex.ts";
import { areWhole, placeBehind } from "./scanned-chunks.ts";

/** When blocks are read at the latest, ms after the opening: by then the service is ready, and gives its time to this. */
const latestMs = 1000;
/** The longest pause after a failure, ms. Each failure doubles the pause, because each is a line of the log. */
const mostRetryMs = 60_000;

/** What reading blocks works with. */
export interface BlockLoadingParts extends LoadParts {
  readonly turns: Mutex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  /** Called in a turn at the writer, once the index has all blocks. */
  onWhole(): void;
}

/**
 * Reads the blocks into the index after the start, so that a start takes as long with many blocks as with few. Reports that are newer than all before them are stored meanwhile. Everything
 * else waits for `whole`. Above all, whoever replaces or deletes chunks waits. So no block changes while blocks are read, and each is read once.
 */
export class BlockLoading implements BlocksOfIndex {
  readonly #parts: BlockLoadingParts;
  /** Blocks with smaller row numbers are in the index. */
  #place = 1;
  #isWhole = false;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Why blocks could not be read the last time. */
  #failure: unknown;

  constructor(parts: BlockLoadingParts) {
    this.#parts = parts;
  }

  /** Whether the index has all blocks. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Throws if the last try to read the blocks failed, because no history can be answered then. Before the first try ends, all is well: whoever needs blocks waits. */
  check(): void {
    if (!this.#isWhole && this.#failure !== undefined) throw this.#failure;
  }

  /** Reads the blocks soon, unless somebody asks for them before. If that fails, tries again and again, because perhaps nobody asks. */
  begin(ms = latestMs): void {
    const again = (error: unknown) => {
      if (this.#closed) return;
      this.#parts.log.warn({ error: String(error) }, "blocks can't be read, so histories fail; trying again");
      this.begin(Math.min(2 * ms, mostRetryMs));
    };
    this.#timer = setTimeout(() => void this.whole().catch(again), ms).unref();
  }

  whole(): Promise<void> {
    if (this.#isWhole) return Promise.resolve();
    if (this.#closed) return Promise.reject(closing());
    this.#reading ??= this.#tryRead().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Ends the reading. Whoever waits for it gets an error at the reader's next answer, which a server that hangs may delay. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #tryRead(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const { reader, turns, settle, onWhole } = this.#parts;
    const room = new Map<DeviceKey, number>();
    const counts = this.#place === 1 ? await reader.call("blockCounts", null) : new Float64Array(0);
    for (let at = 0; at < counts.length; at += 2) room.set(counts[at] ?? 0, counts[at + 1] ?? 0);
    let pending = reader.call("scanBlocks", this.#place);
    for (;;) {
      const rows = await pending;
      if (rows.length === 0) break;
      const place = placeBehind(rows, this.#place);
      // The reader goes on while these are put in.
      pending = reader.call("scanBlocks", place);
      // If `settle` fails, nobody waits for it.
      pending.catch(() => undefined);
      const put = () => {
        if (this.#closed) throw closing();
        this.#put(rows, room);
        this.#place = place;
      };
      if (this.#raisesNext(rows))
        await turns.run(async () => {
          // Rows of a commit that was not answered are looked for from `ChunkIndex.next` on.
          await settle();
          put();
        });
      // Without a turn: a fleet that comes back after a start commits all the time, and each portion would wait for a commit.
      else put();
    }
    await turns.run(async () => {
      this.#isWhole = true;
      onWhole();
    });
  }

  /** Whether blocks may raise `ChunkIndex.next`: few are as of a number that no row has. */
  #raisesNext(rows: Float64Array): boolean {
    const { next } = this.#parts.index;
    if (!areWhole(rows)) return true;
    for (let at = 0; at < rows.length; at += scanColumns)
      if ((rows[at] ?? 0) >= next || (rows[at + scanColumns - 1] ?? 0) >= next) return true;
    return false;
  }

  #put(rows: Float64Array, room: Map<DeviceKey, number>): void {
    const { index } = this.#parts;
    if (areWhole(rows)) for (let at = 0; at < rows.length; at += scanColumns) index.addScanned(rows, at, room);
    else putChunks(this.#parts, rows, "scanBlocks");
  }
}

/** Whether a commit can't do without the blocks of a device: it changes stored totals, or its state has no new row that says what the state includes. */
export function needsBlocks({ records, patches, shifts = [] }: DeviceCommit): boolean {
  return records.length === 0 || patches.length > 0 || shifts.length > 0;
}

function closing(): StoreUnavailable {
  return new StoreUnavailable("the store is closing");
}
