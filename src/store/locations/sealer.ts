import type { DeviceKey } from "../../model/device.ts";
import type { Log } from "../../ports/log.ts";
import { Background } from "./background.ts";
import { type DamagedChunk, nobody } from "./calls.ts";
import type { BlocksOfIndex } from "./chunk-index.ts";
import { momentText } from "./chunks.ts";
import type { DeviceChunks } from "./device-chunks.ts";
import { DeviceSealing, type SealingParts } from "./device-sealing.ts";
import { isDown } from "./failures.ts";
import type { ScannedChunk } from "./scanned-chunks.ts";
import { blockBytes, blockRecords } from "./sizes.ts";
import type { Trim } from "./spent-tail.ts";

/**
 * A device is sealed when its tail has grown by this many chunks, or by the records or bytes of a block. Each chunk of the tail is an entry in memory and a row to read at
 * the start.
 */
const manyChunks = 256;
/** This many devices may gather `manyChunks` each: 2.6 million in all, some 150 MB in memory and three seconds of a start. More devices share that number. */
const manyDevices = 10_000;
/** Each device may gather this many, however many devices there are. A small block is packed anew to take in more, so each position is packed five times until its block is full. */
const fewChunks = 32;
/** With this many shifts a device is sealed: each read goes through them for every chunk, and each late commit rewrites their row, which has 5 KB then. */
const manyShifts = 128;
/** This many shifts slow down reading, so sealing the device is urgent. */
const tooManyShifts = 1024;
/** With this many patches a device is sealed: each read of the device goes through them. */
const manyPatches = 512;
/** This many patches make a read take 20 ms, for which all other reads wait, so sealing the device is urgent. */
const tooManyPatches = 4096;
/** Sealing is urgent when the tails have this many chunks more than devices usually gather: their entries take some 50 MB of memory. */
const tooManyChunks = 1_000_000;
/** The same in bytes: the file never gets smaller again. */
const tooManyBytes = 1024 * 1024 * 1024;
/** Pauses after a slice, ms. So packing takes half of a processor at most, in a thread that gives way to all others. */
const pauseMs = 40;
const urgentPauseMs = 4;
/** The same while the service is busy: what comes in a burst is sealed after it. */
const busyPauseMs = 200;
/** Pause of a device after a failure, and of all devices where the whole store fails, ms: the disk or lock that caused it needs some time. */
const retryMs = 1000;
/** Pause of all other devices after the failure of one, ms. If thousands are damaged, the log has ten lines a second at most. */
const othersMs = 100;
/** The longest pause of a device whose sealing fails, ms. Each failure doubles the pause: the cause may be the device's own and must not slow the others. */
const mostRetryMs = 600_000;
/** With this many positions in the tail at the start, sealing takes long, and the log says so. */
const longWork = 250_000;
/** The log then says how many are left each time when this many are sealed. */
const toldEach = 1_000_000;

/** What the sealer works with. */
export interface SealerParts extends SealingParts {
  readonly blocks: BlocksOfIndex;
  /** Whether the service had much else to do since this was last asked. */
  readonly isBusy: () => boolean;
  readonly log: Log;
}

/** The sealing of a device, and the calls of `now` that wait for its end. */
interface Turn {
  /** Undefined before the first slice. */
  sealing: DeviceSealing | undefined;
  readonly ends: readonly (() => void)[];
}

/** When a device is tried again, and how long it waits, ms. */
interface Retry {
  readonly ms: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Seals the tails of devices into blocks in the background. Devices take turns: a slice of one, then a slice of the next. Each start finds what is left to seal, so data of
 * older versions are sealed, too.
 */
export class Sealer {
  readonly #parts: SealerParts;
  readonly #queue = new Set<DeviceKey>();
  /** Devices that wait, too, and whose many shifts or patches slow down reading. */
  readonly #pressing = new Set<DeviceKey>();
  /** Devices that are being sealed. Few have more than one slice. */
  readonly #begun = new Map<DeviceKey, Turn>();
  readonly #background = new Background(() => this.#work());
  /** Calls of `now` that wait for a sealing that has not begun. */
  readonly #ends = new Map<DeviceKey, (() => void)[]>();
  /** Devices whose sealing failed. */
  readonly #failed = new Map<DeviceKey, Retry>();
  /** Row numbers of damaged chunks that the log has named. */
  readonly #told = new Set<number>();
  #tables = 0;
  /** How many calls of `now` wait. For them, devices are sealed without the longer pauses of a busy service. */
  #asking = 0;
  /** Positions that were sealed since the log last told how many are left. Undefined when the work is short, so that the log tells nothing. */
  #progress: number | undefined;

  constructor(parts: SealerParts) {
    this.#parts = parts;
  }

  /** Devices that have something to seal and wait for their turn. */
  get waiting(): number {
    return this.#queue.size + this.#pressing.size;
  }

  /** Damaged chunks, ranges of rows and tables that were found since the start. */
  get damaged(): number {
    return this.#told.size + this.#tables;
  }

  /** Queues a device if it has enough to seal. */
  look(device: DeviceKey): void {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined || !isReady(chunks, this.#enough) || this.#failed.has(device)) return;
    this.#enqueue(device);
    this.#background.start();
  }

  /** Seals what there is of a device, however little. Resolves when that is done, has failed, or is left to the next start. */
  now(device: DeviceKey): Promise<void> {
    if (this.#background.closed) return Promise.resolve();
    this.#asking++;
    return new Promise((resolve) => {
      const end = () => {
        this.#asking--;
        resolve();
      };
      this.#ends.set(device, [...(this.#ends.get(device) ?? []), end]);
      this.#enqueue(device);
      this.#background.start();
    });
  }

  /** Tells the log how much there is to seal, if that takes long. */
  tellWork(): void {
    const { index, log } = this.#parts;
    const positions = index.tail.records;
    if (this.waiting === 0 || positions < longWork) return;
    this.#progress = 0;
    log.info({ positions, devices: this.waiting }, "sealing positions into blocks while the service works");
  }

  /** Ends after the present slice. */
  async close(): Promise<void> {
    await this.#background.close();
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
    for (const { ends } of this.#begun.values()) for (const end of ends) end();
    for (const ends of this.#ends.values()) for (const end of ends) end();
  }

  async #work(): Promise<void> {
    if (!this.#parts.blocks.isWhole) await this.#whole();
    do {
      await this.#slicePressing();
      for (const device of this.#queue) {
        if (this.#background.closed) return;
        // Before the work, so that a commit meanwhile queues the device again.
        this.#queue.delete(device);
        await this.#slice(device);
        await this.#trim();
        // Every other turn at most, however fast shifts and patches are added.
        await this.#slicePressing();
      }
    } while (this.waiting > 0 && !this.#background.closed);
    while (!this.#background.closed && (await this.#trim())) await this.#background.pause(pauseMs);
    if (this.#progress !== undefined && this.waiting === 0) {
      this.#progress = undefined;
      this.#parts.log.info({ blocks: this.#parts.index.blocks }, "all but the newest positions are sealed");
    }
  }

  /** Resolves when the index has all blocks, or the sealer is closed. */
  async #whole(): Promise<void> {
    while (!this.#background.closed)
      try {
        return await this.#parts.blocks.whole();
      } catch (error) {
        if (this.#background.closed) return;
        this.#parts.log.warn({ error: String(error) }, "nothing can be sealed before the blocks are read");
        await this.#background.pause(retryMs);
      }
  }

  async #slicePressing(): Promise<void> {
    const [device] = this.#pressing;
    if (device === undefined || this.#background.closed) return;
    this.#pressing.delete(device);
    await this.#slice(device);
  }

  /** Deletes some spent rows of the tail. Returns false when there are none to be deleted now. */
  async #trim(): Promise<boolean> {
    const { index, writer, turns, log } = this.#parts;
    const next = () => index.spent?.next(index.tail.bytes);
    if (next() === undefined) return false;
    let trim: Trim | undefined;
    try {
      await turns.run(async () => {
        // Chosen in the turn: others may add spent rows and delete some before it comes.
        trim = next();
        if (trim !== undefined) index.spent?.trimmed(trim, await writer.call("trim", trim));
      });
      return true;
    } catch (error) {
      if (isDown(error) || trim === undefined) return false;
      // A damaged page, perhaps. The rows stay where they are, and the next start tries again.
      index.spent?.leave(trim);
      const { from, to } = trim;
      log.warn({ from, to, error: String(error) }, "rows of the tail that are in blocks by now can't be deleted");
      return true;
    }
  }

  #enqueue(device: DeviceKey): void {
    const chunks = this.#parts.index.get(device);
    if (chunks !== undefined && slowsReading(chunks)) {
      this.#queue.delete(device);
      this.#pressing.add(device);
    } else if (!this.#pressing.has(device)) this.#queue.add(device);
  }

  #dequeue(device: DeviceKey): void {
    this.#queue.delete(device);
    this.#pressing.delete(device);
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
    const pause = this.#pauseFor(chunks);
    try {
      turn.sealing ??= await DeviceSealing.begin(this.#parts, device, chunks);
      const { positions, damaged, isLast } = await turn.sealing.next();
      for (const chunk of damaged) this.tellDamage(device, chunk);
      this.#tellProgress(positions);
      if (isLast) {
        this.#succeeded(device);
        // Commits during the last slice queued the device again, because its tail was still long.
        this.#dequeue(device);
        this.#end(device, turn);
        this.look(device);
      } else this.#enqueue(device);
    } catch (error) {
      this.#parts.log.warn(
        { device, error: String(error) },
        "positions of a device can't be sealed now; they stay as they are, and sealing is tried again",
      );
      this.#tryLater(device);
      this.#end(device, turn);
      await this.#background.pause(isDown(error) ? retryMs : Math.max(pause, othersMs));
      return;
    }
    await this.#background.pause(pause);
  }

  #pauseFor(chunks: DeviceChunks): number {
    const isBusy = this.#parts.isBusy();
    if (slowsReading(chunks) || this.#behind) return urgentPauseMs;
    return isBusy && this.#asking === 0 ? busyPauseMs : pauseMs;
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
    // Calls of `now` that came meanwhile wait for what was committed meanwhile, too.
    if (this.#ends.has(device)) this.#enqueue(device);
  }

  /** Keeps a device out of the queue until its next try, whatever the device commits meanwhile. */
  #tryLater(device: DeviceKey): void {
    const before = this.#failed.get(device);
    clearTimeout(before?.timer);
    const ms = before === undefined ? retryMs : Math.min(2 * before.ms, mostRetryMs);
    const again = () => {
      this.#enqueue(device);
      this.#background.start();
    };
    this.#failed.set(device, { ms, timer: setTimeout(again, ms).unref() });
    this.#dequeue(device);
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

  /** Whether chunks come in faster than they are sealed. A device that need not be sealed yet has half of `#enough` on average, and half of a block's bytes at most. */
  get #behind(): boolean {
    const { tail, deviceCount } = this.#parts.index;
    if (tail.chunks - (deviceCount * this.#enough) / 2 > tooManyChunks) return true;
    return tail.bytes - (deviceCount * blockBytes) / 2 > tooManyBytes;
  }

  /** Tells the log of a damaged chunk, once. The chunk stays where it is, and only its own positions are lost. */
  tellDamage(device: DeviceKey, { seq, first, last, count, problem }: DamagedChunk): void {
    if (this.#told.has(seq)) return;
    this.#told.add(seq);
    const [from, to] = [momentText(first), momentText(last)];
    this.#parts.log.error({ device, from, to, positions: count, problem }, "positions of a device are damaged on disk");
  }

  /** Logs what a scan found damaged: see `nobody`. */
  tellLost(chunk: ScannedChunk): void {
    const { seq, asOf, first, last, sealed, bytes: device } = chunk;
    if (device !== nobody) {
      this.tellDamage(device, { ...chunk, problem: "its row does not match its checksum" });
      return;
    }
    if (this.#told.has(seq)) return;
    this.#told.add(seq);
    const [from, to] = [momentText(first), momentText(last)];
    const rows = { table: sealed ? "block" : "tail", firstRow: asOf, lastRow: seq };
    this.#parts.log.error(
      { ...rows, from, to },
      "rows of the database can't be read: positions of some devices from about these times are lost; restore a backup",
    );
  }

  /** Logs a table with damaged pages. */
  tellTable(table: string, problems: readonly string[]): void {
    this.#tables++;
    this.#parts.log.error({ table, problems }, "pages of a table are damaged: run waybeam check, and restore a backup");
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

/** Whether a device has enough to seal. */
function isReady({ tail, left, shifts, patches }: DeviceChunks, enoughChunks: number): boolean {
  if (shifts.count >= manyShifts || patches.count >= manyPatches) return true;
  return (
    tail.chunks - left.chunks >= enoughChunks ||
    tail.records - left.records >= blockRecords ||
    tail.bytes - left.bytes >= blockBytes
  );
}

/** Whether so many shifts or patches wait that reading the device is slow. */
function slowsReading({ shifts, patches }: DeviceChunks): boolean {
  return shifts.count > tooManyShifts || patches.count > tooManyPatches;
}
