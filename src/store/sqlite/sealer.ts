import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { Background } from "./background.ts";
import { type ChunkIndex, type ChunkPlace, type DeviceChunks, firstPlace, type Slice } from "./chunk-index.ts";
import { momentText } from "./chunk-rows.ts";
import type { DamagedChunk, PackerCalls, SealAnswer, WriterCalls } from "./messages.ts";
import type { Mutex } from "./mutex.ts";
import { blockBytes, blockRecords } from "./sizes.ts";
import type { WorkerLink } from "./worker-link.ts";

/** What a device's tail gathers before it is sealed, beside what was left the last time: so many chunks, of which each is an entry in memory and a row to read; or the records of a block. */
const manyChunks = 256;
/** Shifts of a device that are worth folding in: each read goes through them for every chunk, and each late commit rewrites their row, 5 KB then. */
const manyShifts = 128;
/** So many slow down reading; then they are folded in sooner. */
const tooManyShifts = 1024;
/** The same of patches: each read of the device goes through them. */
const manyPatches = 512;
/** Chunks of the tail, beside those that wait for more of their device, whose entries in memory, some 50 MB, make sealing urgent. */
const tooManyChunks = 1_000_000;
/** Chunks that are looked at in one go. */
const sliceRows = 256;
/** Pauses between two goes, ms: half of a processor at most, by a thread that gives way to all others. */
const pauseMs = 40;
const urgentPauseMs = 4;
/** After a failure: the disk or lock that caused it needs some time. */
const retryMs = 1000;
/** A device that fails again and again is tried after twice the time each, and no less often than this: what keeps it from being sealed may be its own, and must not cost the others. */
const mostRetryMs = 600_000;
/** Positions in the tail at the start that take minutes to seal, which the log tells; and after how many more it tells again. */
const longWork = 250_000;
const toldEach = 1_000_000;

/** What the sealer works with. */
export interface SealerParts {
  readonly writer: WorkerLink<WriterCalls>;
  readonly packer: WorkerLink<PackerCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  /** It is not known whether these chunks were sealed. */
  doubt(device: DeviceKey, seqs: readonly number[]): void;
  readonly log: Log;
}

/** What is to be sealed of a device. */
interface Stretch {
  /** Event time from which on everything is folded in; otherwise only what the tail gathered is sealed. */
  readonly since: number | undefined;
  /** Chunks that are older than this row number, with what commits before it laid beside them. */
  readonly until: number;
}

/**
 * Seals the tail of each device into blocks in the background, and folds in what late reports laid beside. One slice after the other: it is packed by a worker while
 * commits go on, and swapped by the writer in one transaction. A slice changes no record's true totals, so it may end after any of them; what is left to do is found
 * again at the next start. So data of older versions are sealed, too.
 */
export class Sealer {
  readonly #parts: SealerParts;
  readonly #queue = new Set<DeviceKey>();
  readonly #background = new Background(() => this.#work());
  /** Who waits for a device's turn. */
  readonly #ends = new Map<DeviceKey, (() => void)[]>();
  /** Devices whose sealing failed: how long each waits until it is tried again. */
  readonly #failed = new Map<DeviceKey, number>();
  /** Damaged chunks that the log has told of. */
  readonly #told = new Set<number>();
  /** Positions that were sealed since the log told of them; undefined: there is nothing to tell. */
  #progress: number | undefined;

  constructor(parts: SealerParts) {
    this.#parts = parts;
  }

  /** Devices that have something to seal and wait for their turn. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Damaged chunks that were found since the start. */
  get damaged(): number {
    return this.#told.size;
  }

  /** Looks whether there is something to do for a device. */
  look(device: DeviceKey): void {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined || !isReady(chunks) || this.#failed.has(device)) return;
    this.#queue.add(device);
    this.#background.start();
  }

  /** Seals what there is of a device, however little. Resolves after its next turn. */
  now(device: DeviceKey): Promise<void> {
    return new Promise((resolve) => {
      this.#ends.set(device, [...(this.#ends.get(device) ?? []), resolve]);
      this.#queue.add(device);
      this.#background.start();
    });
  }

  /** Tells the log what there is to do, where it takes long. */
  tellWork(): void {
    const { index, log } = this.#parts;
    const positions = index.tail.records;
    if (this.#queue.size === 0 || positions < longWork) return;
    this.#progress = 0;
    log.info({ positions, devices: this.#queue.size }, "sealing positions into blocks; the service works meanwhile");
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
      const ends = this.#ends.get(device) ?? [];
      this.#ends.delete(device);
      try {
        if (chunks !== undefined) await this.#seal(device, chunks);
        this.#failed.delete(device);
        this.look(device);
      } catch (error) {
        this.#parts.log.warn({ device, error: String(error) }, "positions of a device can't be sealed now");
        this.#tryLater(device);
        await this.#background.pause(retryMs);
      }
      for (const end of ends) end();
    }
    if (this.#progress !== undefined && this.#queue.size === 0) {
      this.#progress = undefined;
      this.#parts.log.info({ blocks: this.#parts.index.blocks }, "all positions are sealed but the newest ones");
    }
  }

  #tryLater(device: DeviceKey): void {
    const ms = this.#failed.get(device) ?? retryMs;
    this.#failed.set(device, Math.min(2 * ms, mostRetryMs));
    const again = () => {
      this.#queue.add(device);
      this.#background.start();
    };
    setTimeout(again, ms).unref();
  }

  /** Whether chunks come in faster than they are sealed. A device that need not be looked at yet has half of `manyChunks` on average. */
  get #behind(): boolean {
    const { tail, deviceCount } = this.#parts.index;
    return tail.chunks - (deviceCount * manyChunks) / 2 > tooManyChunks;
  }

  async #seal(device: DeviceKey, chunks: DeviceChunks): Promise<void> {
    const { turns } = this.#parts;
    const urgent = chunks.shifts.count > tooManyShifts;
    const stretch = await turns.run(() => this.#begin(chunks));
    try {
      let place: ChunkPlace | undefined = firstPlace;
      while (!this.#background.closed) {
        place = await this.#slice(device, chunks, stretch, place);
        if (place === undefined) break;
        await this.#background.pause(urgent || this.#behind ? urgentPauseMs : pauseMs);
      }
      if (this.#background.closed || this.#parts.index.get(device) !== chunks) return;
      if (stretch.since !== undefined) await turns.run(() => this.#forget(device, chunks, stretch.until));
      chunks.left = chunks.tailBefore(stretch.until);
    } finally {
      chunks.sealing = false;
    }
  }

  /** In a turn, and with a row number of its own: the shifts and patches known now have a lower one, and those of all later commits a higher one. */
  async #begin(chunks: DeviceChunks): Promise<Stretch> {
    // Rows of a commit or a slice that was not answered are looked for from the next number on.
    await this.#parts.settle();
    chunks.sealing = true;
    const { shifts, patches } = chunks;
    const since = Math.min(shifts.since, patches.since, chunks.firstOpen());
    const folds = shifts.count > 0 || patches.count > 0;
    return { since: folds ? since : undefined, until: this.#parts.index.next++ };
  }

  /** Seals what follows a place. Gives the next place; undefined: nothing is left, or the device is gone. */
  async #slice(
    device: DeviceKey,
    chunks: DeviceChunks,
    { since, until }: Stretch,
    place: ChunkPlace,
  ): Promise<ChunkPlace | undefined> {
    const { index, packer, turns } = this.#parts;
    if (index.get(device) !== chunks) return undefined;
    const slice = chunks.slice(place, until, sliceRows, since ?? "next open");
    const { seqs } = slice;
    if (seqs.length === 0) return undefined;
    const answer = await packer.call("seal", { device, seqs, until, everything: since !== undefined });
    for (const chunk of answer?.damaged ?? []) this.#tellDamage(device, chunk);
    const next = placeOf(slice, answer?.taken ?? 0);
    if (answer?.seqs.length === 0 && answer.lifts.length === 0) return next;
    const swapped = await turns.run(async () => {
      await this.#parts.settle();
      if (index.get(device) !== chunks) return false;
      try {
        await this.#swap(device, chunks, until, answer);
      } catch (error) {
        this.#parts.doubt(device, answer?.seqs ?? seqs);
        throw error;
      }
      return true;
    });
    return swapped ? next : undefined;
  }

  /** Puts blocks in the place of the chunks that they were made of. In a turn at the writer. */
  async #swap(device: DeviceKey, chunks: DeviceChunks, until: number, answer: SealAnswer | undefined): Promise<void> {
    const { index, writer } = this.#parts;
    const seq = index.next;
    const request = answer && { device, seq, until, seqs: answer.seqs, pieces: answer.pieces, lifts: answer.lifts };
    if (request === undefined || !(await writer.call("swap", request)))
      throw new Error(`chunks of device ${device} are missing`);
    const made = request.pieces.map(({ data: _, ...piece }, at) => ({ seq: seq + at, ...piece, sealed: true }));
    index.replace(device, chunks, new Set(request.seqs), made);
    this.#tellProgress(made.reduce((sum, { count }) => sum + count, 0));
  }

  async #forget(device: DeviceKey, chunks: DeviceChunks, until: number): Promise<void> {
    const left = await this.#parts.writer.call("forget", { device, seq: until });
    chunks.shifts = left.shifts;
    chunks.patches = left.patches;
  }

  /** A damaged chunk stays where it is, and costs nobody anything but its own positions. */
  #tellDamage(device: DeviceKey, { seq, first, last, count, problem }: DamagedChunk): void {
    if (this.#told.has(seq)) return;
    this.#told.add(seq);
    const [from, to] = [momentText(first), momentText(last)];
    this.#parts.log.error({ device, from, to, positions: count, problem }, "positions of a device are damaged on disk");
  }

  #tellProgress(positions: number): void {
    if (this.#progress === undefined) return;
    this.#progress += positions;
    if (this.#progress < toldEach) return;
    this.#progress -= toldEach;
    const { tail } = this.#parts.index;
    this.#parts.log.info({ positions: tail.records, devices: this.waiting }, "positions that are still to be sealed");
  }
}

/** The place of the last chunk of those that were taken. */
function placeOf({ seqs, firsts }: Slice, taken: number): ChunkPlace {
  const last = Math.max(1, taken) - 1;
  return { first: firsts[last] ?? 0, seq: seqs[last] ?? 0 };
}

/** Whether a device has enough that is worth sealing. */
function isReady({ tail, left, shifts, patches }: DeviceChunks): boolean {
  if (shifts.count >= manyShifts || patches.count >= manyPatches) return true;
  return (
    tail.chunks - left.chunks >= manyChunks ||
    tail.records - left.records >= blockRecords ||
    tail.bytes - left.bytes >= blockBytes
  );
}
