import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { Background } from "./background.ts";
import type { ChunkIndex, DeviceChunks } from "./chunk-index.ts";
import type { WriterCalls } from "./messages.ts";
import type { Mutex } from "./mutex.ts";
import type { WorkerLink } from "./worker-link.ts";

/** Small chunks of a device that are worth putting together: so many entries in memory and rows to read become one or two. */
const manySmall = 256;
/** Shifts of a device that are worth folding in: each read goes through them for every record, and each late commit rewrites their row, 5 KB then. */
const manyShifts = 128;
/** So many slow down reading; then they are folded in sooner. */
const tooManyShifts = 1024;
/** Small chunks of all devices, beside those that wait for more of their device, whose entries in memory, some 50 MB, make putting them together urgent. */
const tooManySmall = 1_000_000;
/**
 * What one slice takes: 3 to 5 ms of the writer, by measurement, so that commits go on in between; with long texts up to 30 ms, which the disk needs for the bytes.
 * A row costs more than its records: it has a page of its own.
 */
const sliceMost = { records: 2048, rows: 256, bytes: 512 * 1024 } as const;
/** Pauses between slices, ms: a tenth of the writer's time at most, or a half where it is urgent. */
const pauseMs = 45;
const urgentPauseMs = 4;
/** After a failure: the disk or lock that caused it needs some time. */
const retryMs = 1000;

/** What the compactor works with. */
export interface CompactorParts {
  readonly writer: WorkerLink<WriterCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  /** It is not known whether these chunks were put together. */
  doubt(device: DeviceKey, seqs: readonly number[]): void;
  readonly log: Log;
}

/**
 * Puts the small chunks of each device together in the background and folds its shifts into them, slice by slice. Each slice is one transaction that
 * changes no record's true totals, so it may end after any of them; what is left to do is found again at the next start.
 */
export class Compactor {
  readonly #parts: CompactorParts;
  readonly #queue = new Set<DeviceKey>();
  readonly #background = new Background(() => this.#work());

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** Looks whether there is something to do for a device. */
  look(device: DeviceKey): void {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined || (chunks.small < manySmall && chunks.shifts.count < manyShifts)) return;
    this.#queue.add(device);
    this.#background.start();
  }

  /** Ends after the present slice. */
  close(): Promise<void> {
    return this.#background.close();
  }

  async #work(): Promise<void> {
    for (const device of this.#queue) {
      if (this.#background.closed) return;
      // Before the work: what is committed meanwhile puts it back.
      this.#queue.delete(device);
      const chunks = this.#parts.index.get(device);
      try {
        if (chunks !== undefined) await this.#compact(device, chunks);
      } catch (error) {
        this.#parts.log.warn({ device, error: String(error) }, "chunks of a device can't be put together now");
        this.#queue.add(device);
        await this.#background.pause(retryMs);
      }
    }
  }

  /** Whether small chunks come in faster than they are put together. A device that need not be looked at yet has half of `manySmall` on average. */
  get #behind(): boolean {
    const { small, deviceCount } = this.#parts.index;
    return small - (deviceCount * manySmall) / 2 > tooManySmall;
  }

  async #compact(device: DeviceKey, chunks: DeviceChunks): Promise<void> {
    const { turns, index } = this.#parts;
    // In a turn, and with a row number of its own: the shifts known now have that one at most, and those of all later commits a higher one.
    const { until, from, count } = await turns.run(async () => {
      // Rows of a commit or a slice that was not answered are looked for from the next number on.
      await this.#parts.settle();
      const { count, since } = chunks.shifts;
      const from = Math.min(count > 0 ? since : Number.POSITIVE_INFINITY, chunks.firstSmall());
      return { until: index.next++, from, count };
    });
    while (!this.#background.closed) {
      const done = await turns.run(() => this.#slice(device, chunks, from, until, count > 0));
      if (done) break;
      await this.#background.pause(count > tooManyShifts || this.#behind ? urgentPauseMs : pauseMs);
    }
    if (count > 0 && !this.#background.closed) await turns.run(() => this.#forget(device, chunks, until));
  }

  /** True: nothing is left, or the device is gone. In a turn at the writer. */
  async #slice(
    device: DeviceKey,
    chunks: DeviceChunks,
    from: number,
    until: number,
    shifted: boolean,
  ): Promise<boolean> {
    await this.#parts.settle();
    const { index, writer } = this.#parts;
    if (index.get(device) !== chunks) return true;
    const seqs = chunks.slice(from, until, sliceMost, shifted);
    if (seqs.length === 0) return true;
    const seq = index.next;
    try {
      const answer = await writer.call("compact", { device, seqs, seq });
      if (answer === undefined) throw new Error(`chunks of device ${device} are missing`);
      const made = Array.from({ length: answer.table.length / 4 }, (_, place) => ({
        seq: seq + place,
        first: answer.table[place * 4] ?? 0,
        last: answer.table[place * 4 + 1] ?? 0,
        count: answer.table[place * 4 + 2] ?? 0,
        bytes: answer.table[place * 4 + 3] ?? 0,
      }));
      index.replace(device, chunks, new Set(seqs), made);
    } catch (error) {
      this.#parts.doubt(device, seqs);
      throw error;
    }
    return false;
  }

  async #forget(device: DeviceKey, chunks: DeviceChunks, until: number): Promise<void> {
    const left = await this.#parts.writer.call("forget", { device, seq: until });
    chunks.shifts = left;
  }
}
