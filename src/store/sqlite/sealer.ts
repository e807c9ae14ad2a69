import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { Background } from "./background.ts";
import type { DeviceChunks } from "./chunk-index.ts";
import { momentText } from "./chunk-rows.ts";
import { DeviceSealing, type SealingParts } from "./device-sealing.ts";
import type { DamagedChunk } from "./messages.ts";
import { blockBytes, blockRecords } from "./sizes.ts";

/**
 * What a device's tail gathers before it is sealed, beside what was left the last time: so many chunks, of which each is an entry in memory and a row to read at the start;
 * or the records of a block.
 */
const manyChunks = 256;
/** So many devices may gather as many: 2.6 million chunks in all, some 150 MB in memory and three seconds of a start. Where there are more devices, they share these. */
const manyDevices = 10_000;
/** But each device has as many as this. A small block is packed anew when it takes in more, so that each position is packed five times until its block is full. */
const fewChunks = 32;
/** Shifts of a device that are worth folding in: each read goes through them for every chunk, and each late commit rewrites their row, 5 KB then. */
const manyShifts = 128;
/** So many slow down reading; then they are folded in sooner. */
const tooManyShifts = 1024;
/** The same of patches: each read of the device goes through them. */
const manyPatches = 512;
/** Chunks of the tail, beside those that wait for more of their device, whose entries in memory, some 50 MB, make sealing urgent. */
const tooManyChunks = 1_000_000;
/** Pauses between two slices, ms: half of a processor at most, by a thread that gives way to all others. */
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
export interface SealerParts extends SealingParts {
  readonly log: Log;
}

/** A device that is being sealed, and who waits for that. */
interface Turn {
  /** Undefined: before the first slice. */
  sealing: DeviceSealing | undefined;
  readonly ends: readonly (() => void)[];
}

/** When a device is tried again, and how long it waits, ms. */
interface Retry {
  readonly ms: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Seals the tails of devices into blocks in the background. Devices take turns: a slice of one, then a slice of the next. What is left to do is found again at the next
 * start, so that data of older versions are sealed, too.
 */
export class Sealer {
  readonly #parts: SealerParts;
  readonly #queue = new Set<DeviceKey>();
  /** Devices that are being sealed. Few have more than one slice. */
  readonly #begun = new Map<DeviceKey, Turn>();
  readonly #background = new Background(() => this.#work());
  /** Who waits for a sealing that is not begun yet. */
  readonly #ends = new Map<DeviceKey, (() => void)[]>();
  /** Devices whose sealing failed. */
  readonly #failed = new Map<DeviceKey, Retry>();
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
    if (chunks === undefined || !isReady(chunks, this.#enough) || this.#failed.has(device)) return;
    this.#queue.add(device);
    this.#background.start();
  }

  /** Seals what there is of a device, however little. Resolves when that is done, has failed, or is left to the next start. */
  now(device: DeviceKey): Promise<void> {
    if (this.#background.closed) return Promise.resolve();
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
  async close(): Promise<void> {
    await this.#background.close();
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
    for (const { ends } of this.#begun.values()) for (const end of ends) end();
    for (const ends of this.#ends.values()) for (const end of ends) end();
  }

  async #work(): Promise<void> {
    for (const device of this.#queue) {
      if (this.#background.closed) return;
      // Before the work: what is committed meanwhile puts it back.
      this.#queue.delete(device);
      await this.#slice(device);
    }
    if (this.#progress !== undefined && this.#queue.size === 0) {
      this.#progress = undefined;
      this.#parts.log.info({ blocks: this.#parts.index.blocks }, "all positions are sealed but the newest ones");
    }
  }

  /** Seals a slice of a device. Where more is left, the device waits behind all others. */
  async #slice(device: DeviceKey): Promise<void> {
    const chunks = this.#parts.index.get(device);
    const turn = this.#begun.get(device) ?? this.#begin(device);
    if (chunks === undefined) {
      this.#succeeded(device);
      this.#end(device, turn);
      return;
    }
    const urgent = chunks.shifts.count > tooManyShifts || this.#behind;
    try {
      turn.sealing ??= await DeviceSealing.begin(this.#parts, device, chunks);
      const { positions, damaged, isLast } = await turn.sealing.next();
      for (const chunk of damaged) this.#tellDamage(device, chunk);
      this.#tellProgress(positions);
      if (isLast) {
        this.#succeeded(device);
        // What was committed meanwhile put it back, since its tail was still full.
        this.#queue.delete(device);
        this.#end(device, turn);
        this.look(device);
      } else this.#queue.add(device);
    } catch (error) {
      this.#parts.log.warn(
        { device, error: String(error) },
        "positions of a device can't be sealed now; they stay as they are and are tried again",
      );
      this.#tryLater(device);
      this.#end(device, turn);
      await this.#background.pause(retryMs);
      return;
    }
    await this.#background.pause(urgent ? urgentPauseMs : pauseMs);
  }

  #begin(device: DeviceKey): Turn {
    const turn = { sealing: undefined, ends: this.#ends.get(device) ?? [] };
    this.#ends.delete(device);
    this.#begun.set(device, turn);
    return turn;
  }

  #end(device: DeviceKey, { sealing, ends }: Turn): void {
    this.#begun.delete(device);
    sealing?.end();
    for (const end of ends) end();
    // Who asked meanwhile waits for what came meanwhile, too.
    if (this.#ends.has(device)) this.#queue.add(device);
  }

  /** The device waits for its time, whatever it commits meanwhile. */
  #tryLater(device: DeviceKey): void {
    const before = this.#failed.get(device);
    clearTimeout(before?.timer);
    const ms = before === undefined ? retryMs : Math.min(2 * before.ms, mostRetryMs);
    const again = () => {
      this.#queue.add(device);
      this.#background.start();
    };
    this.#failed.set(device, { ms, timer: setTimeout(again, ms).unref() });
    this.#queue.delete(device);
  }

  #succeeded(device: DeviceKey): void {
    clearTimeout(this.#failed.get(device)?.timer);
    this.#failed.delete(device);
  }

  /** Chunks that a device's tail gathers before it is sealed. */
  get #enough(): number {
    const share = Math.floor((manyDevices * manyChunks) / this.#parts.index.deviceCount);
    return Math.max(fewChunks, Math.min(manyChunks, share));
  }

  /** Whether chunks come in faster than they are sealed. A device that need not be looked at yet has half of `#enough` on average. */
  get #behind(): boolean {
    const { tail, deviceCount } = this.#parts.index;
    return tail.chunks - (deviceCount * this.#enough) / 2 > tooManyChunks;
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

/** Whether what a device has is worth sealing. */
function isReady({ tail, left, shifts, patches }: DeviceChunks, enoughChunks: number): boolean {
  if (shifts.count >= manyShifts || patches.count >= manyPatches) return true;
  return (
    tail.chunks - left.chunks >= enoughChunks ||
    tail.records - left.records >= blockRecords ||
    tail.bytes - left.bytes >= blockBytes
  );
}
