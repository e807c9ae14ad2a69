import type { CommitBatch, DeviceCommit, RefusedReport, TotalsShift } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import { type DeviceState, neverReported, type RecordPlace } from "../../model/location.ts";
import type { Log } from "../../ports/log.ts";
import type { DeletedPositions, OldPositions } from "../../ports/retention.ts";
import {
  type CommitConflict,
  type HistoryChunk,
  type HistoryContext,
  type HistoryRange,
  type LocationStore,
  type Moment,
  type PackedContext,
  StoreUnavailable,
} from "../../ports/store.ts";
import { busyPart, loopLoad } from "../../shares/loop-load.ts";
import { type LaidPatches, packBatch, type Rewrite } from "../records/batch.ts";
import { packPatches } from "../records/rewrite.ts";
import { ByteSink } from "../records/sink.ts";
import type { Spent, SpentRows } from "../records/spent.ts";
import type { CrowdedNotices } from "../rows/notice-room.ts";
import type { Vault } from "../secrets/vault.ts";
import { type AlertRows, alertRows } from "./alert-rows.ts";
import { BlockLoading, needsBlocks } from "./block-loading.ts";
import type { Link, PackerCalls, ReaderCalls, WriterCalls } from "./calls.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { Contexts } from "./contexts.ts";
import { countAbout } from "./count-about.ts";
import { stateDamaged, storeError } from "./failures.ts";
import { type ReadParts, readHistory } from "./history.ts";
import { HistorySteps } from "./history-steps.ts";
import { KeptStates } from "./kept-states.ts";
import { loadChunks, loadSpent, moreWaiting, placeWaiting, readWaiting, type WaitingFound } from "./load-chunks.ts";
import { Moments } from "./moments.ts";
import type { Mutex } from "./mutex.ts";
import { OldChunks } from "./old-chunks.ts";
import { groupsOf } from "./patch-groups.ts";
import { chunksOf } from "./scanned-chunks.ts";
import { Sealer } from "./sealer.ts";
import { SecondReader } from "./second-reader.ts";
import { type NewRow, readStored } from "./stored-states.ts";

/** First size of the batch buffer: a batch of some hundred one-record commits fits without growing. */
const batchBytes = 256 * 1024;
/** A buffer that a great batch made larger than this is not kept. */
const keptBatchBytes = 8 * 1024 * 1024;

/** What the location store works with. */
export interface LocationParts {
  readonly writer: Link<WriterCalls>;
  readonly reader: Link<ReaderCalls>;
  /** Reads long histories. */
  readonly historyReader: Link<ReaderCalls>;
  /** Reads what surrounds late reports: somebody's backlog keeps nobody's request waiting. */
  readonly contextReader: Link<ReaderCalls>;
  /** Packs blocks. */
  readonly packer: Link<PackerCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Bytes of refused reports that each device may have. */
  readonly refusedBytes: number;
  readonly crowded: Pick<CrowdedNotices, "made">;
  readonly log: Log;
  /** Seals what the notices of a commit hold. */
  readonly vault: Vault;
}

/** Positions on any engine. The index, the states and the order of commits are here; the engine answers the calls of its links (`calls.ts`). */
export class Locations implements LocationStore {
  readonly #parts: LocationParts;
  /** How histories are read. */
  readonly steps: HistorySteps;
  readonly #reading: ReadParts;
  readonly #contexts: Contexts;
  readonly #moments: Moments;
  readonly #old: OldChunks;
  readonly #batch = new ByteSink(batchBytes);
  readonly #kept: KeptStates;
  /**
   * After a commit that failed, whether the tail has rows that the index does not know is found out before the next one, before states are told, and before repeats are looked
   * for: what is in these rows would be stored once more.
   */
  #uncertain = false;
  /** Devices of commits that failed: what is known of their states may be wrong. */
  readonly #uncertainDevices = new Set<DeviceKey>();
  /** Rows of the tail that are in the index and perhaps not in states yet, because the look for them failed midway. */
  #newRows: NewRow[] = [];
  /** Refused reports of commits that failed: they may be stored nevertheless. Records tell by their device's version. */
  readonly #perhapsStored = new WeakSet<RefusedReport>();
  /** Chunks of a swap or deletion that was not answered, so that they may be gone. There is at most one such call, because nothing is written before `settle` finds out. */
  #doubtful: readonly {
    readonly device: DeviceKey;
    readonly seqs: readonly number[];
    readonly spent?: Spent | undefined;
  }[] = [];
  readonly sealer: Sealer;
  /** Reads the blocks into the index. */
  readonly blocks: BlockLoading;
  /** What waits beside the chunks, until the index has all blocks. */
  #waiting: WaitingFound | undefined;
  /** Told of refused reports that were deleted before their age, since there were too many bytes. */
  onRefusedDropped: (reports: number) => void = () => undefined;

  constructor(parts: LocationParts) {
    const { reader, historyReader, contextReader, turns } = parts;
    this.#parts = parts;
    this.steps = new HistorySteps(reader, historyReader);
    const tellDamage = (...about: Parameters<Sealer["tellDamage"]>) => this.sealer.tellDamage(...about);
    const tellLost = (...about: Parameters<Sealer["tellLost"]>) => this.sealer.tellLost(...about);
    const settle = () => this.settle();
    this.blocks = new BlockLoading({
      ...parts,
      sealer: { tellDamage, tellLost },
      settle,
      onWhole: () => this.#onWhole(),
    });
    this.#reading = { ...parts, steps: this.steps, blocks: this.blocks, settled: () => turns.run(settle) };
    this.#kept = new KeptStates({ ...parts, settle });
    const around = { ...this.#reading, reader: new SecondReader(reader, contextReader) };
    this.#contexts = new Contexts(around);
    this.#moments = new Moments(around);
    const load = loopLoad();
    const replacing = {
      ...parts,
      blocks: this.blocks,
      settle,
      writeState: (device: DeviceKey) => this.#kept.write(device),
      doubt: (device: DeviceKey, seqs: readonly number[], spent?: Spent) => {
        this.#uncertain = true;
        this.#doubtful = [{ device, seqs, spent }];
      },
    };
    this.#old = new OldChunks({ ...replacing, tellDamage });
    this.sealer = new Sealer({ ...replacing, isBusy: () => load() > busyPart });
  }

  /** Memory of decompressed blocks that are kept. */
  get cachedBytes(): number {
    return this.#contexts.cachedBytes;
  }

  /** Finds what is stored of each device. */
  async load(): Promise<void> {
    // The blocks themselves are read later, unless damage hides how they are numbered: new rows must have other numbers.
    const last = await this.#orDamaged(() => this.#parts.reader.call("lastBlock", null));
    if (last !== undefined) this.#parts.index.past(last);
    else await this.blocks.whole();
    await this.#loadTail(1, await this.#kept.open(), await loadSpent(this.#parts));
    await this.#loadWaiting();
    this.#loaded();
    this.sealer.tellWork();
    this.blocks.begin();
  }

  #onWhole(): void {
    if (this.#waiting !== undefined) placeWaiting(this.#parts.index, this.#waiting);
    this.#waiting = undefined;
    for (const device of this.#parts.index.devices()) this.sealer.look(device);
  }

  /** Forgets the state of a device that was removed. */
  forget(device: DeviceKey): void {
    this.#kept.forget(device);
  }

  /** Writes what is kept in memory. */
  async close(): Promise<void> {
    await this.#kept.close();
  }

  #loaded(): void {
    this.#uncertain = false;
    this.#uncertainDevices.clear();
    this.#newRows = [];
    for (const device of this.#parts.index.devices()) this.sealer.look(device);
  }

  /** Reads the tail from a row number on into the index. Rows from `newFrom` on may be newer than the states of their devices. */
  async #loadTail(from: number, newFrom: number, spent?: SpentRows): Promise<void> {
    await loadChunks(this.#loading, "scan", from, {
      passes: (row) => {
        if (spent?.has(row) !== true) return false;
        this.#parts.index.spent?.add(row.device, row);
        return true;
      },
      chunk: (row) => {
        // A damaged row may have any number: see `ChunkIndex.past`.
        if (row.seq >= newFrom && row.seq < this.#parts.index.next) this.#newRows.push(row);
      },
      // Where the state of one device can't be written for long, all rows of the tail may be newer than states: millions, which are not held at once.
      someRead: async () => {
        if (this.#newRows.length === 0) return;
        await this.#kept.recover([], this.#newRows);
        this.#newRows = [];
      },
    });
    await this.#kept.recover(this.#uncertainDevices, this.#newRows);
  }

  /** Finds out whether a swap or deletion was done: if so, all its chunks are gone. Nothing was written after it, so all blocks from the next row number on are the swap's. */
  async #resolveDoubt(): Promise<void> {
    const { reader, index } = this.#parts;
    const [doubtful] = this.#doubtful;
    if (doubtful === undefined || doubtful.seqs.length === 0) return;
    const { device, seqs, spent } = doubtful;
    // Where this can't be read, the swap's blocks tell. If there are none, the device's history can't be read either. Other devices go on.
    const found = await this.#orDamaged(() => reader.call("holdsAny", seqs));
    const made = found === true ? [] : [...chunksOf(await reader.call("scanBlocks", index.next), true)];
    if (found === false || made.some((block) => block.device === device)) {
      const chunks = index.get(device);
      // In one step, so that readers find the old chunks or the new ones.
      const old = new Set(seqs);
      if (chunks !== undefined && spent !== undefined) index.spent?.sealed(device, spent, chunks, old);
      if (chunks !== undefined) index.replace(device, chunks, old, made);
    }
    this.#doubtful = [];
  }

  /** Runs `read`. Returns undefined when it fails because a page is damaged: the page belongs to some device, and must not keep other devices from being written. */
  async #orDamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.trouble !== "damaged") throw error;
      this.#parts.log.error({ error }, "a page of the database is damaged");
      return undefined;
    }
  }

  /** Reads how many shifts and patches wait beside the chunks. Those of a device that has blocks only are placed when the index has these. */
  async #loadWaiting(): Promise<void> {
    const found = await readWaiting(this.#parts);
    placeWaiting(this.#parts.index, found);
    if (!this.blocks.isWhole) this.#waiting = found;
  }

  get #loading() {
    return { ...this.#parts, sealer: this.sealer };
  }

  async states(devices: readonly DeviceKey[]): Promise<readonly DeviceState[]> {
    if (this.#uncertain) await this.#reading.settled();
    if (this.#kept.lacks(devices)) await this.#parts.turns.run(() => this.#kept.complete(devices));
    const kept = new Map<DeviceKey, DeviceState>();
    for (const device of devices) {
      const state = this.#kept.get(device);
      if (state !== undefined) kept.set(device, state);
    }
    const others = kept.size === 0 ? devices : devices.filter((device) => !kept.has(device));
    const stored = await readStored(this.#parts.reader, others);
    if (others.some((device) => !stored.has(device))) await this.blocks.whole();
    return devices.map((device) => kept.get(device) ?? stored.get(device)?.state ?? this.#withoutState(device));
  }

  /** The state of a device that has none stored. A device that has positions must have had one, so that it is lost. */
  #withoutState(device: DeviceKey): DeviceState {
    if (this.#parts.index.get(device) === undefined) return neverReported;
    throw storeError(stateDamaged(device, "its row is missing"));
  }

  async commit(batch: CommitBatch, written?: () => void): Promise<CommitConflict | undefined> {
    if (!this.blocks.isWhole && batch.devices.some(needsBlocks)) await this.blocks.whole();
    // Before the turn at the writer, so that nobody waits for the encryption.
    const rows = await alertRows(batch, this.#parts.vault);
    return this.#parts.turns.run(() => this.#commit(batch, rows, written), true);
  }

  async #commit(
    batch: CommitBatch,
    rows: AlertRows,
    written: (() => void) | undefined,
  ): Promise<CommitConflict | undefined> {
    await this.settle();
    if (this.#kept.lacking) await this.#kept.complete(batch.devices.map(({ device }) => device));
    const { writer, index, refusedBytes, log } = this.#parts;
    const choice = this.#kept.choose(batch.devices);
    const chunks = packBatch(this.#batch, batch.devices, index.next, index.separator(), choice);
    written?.();
    const rewrites: Rewrite[] = [];
    const laid: LaidPatches[] = [];
    for (const device of batch.devices) if (device.patches.length > 0) this.#patch(device, rewrites, laid);
    const buffer = this.#batch.take();
    const first = index.next;
    try {
      const { refused } = batch;
      const refusedBefore = refused.some((report) => this.#perhapsStored.has(report));
      const request = { buffer, seq: first, rewrites, laid, refused, refusedBefore, refusedBytes, ...rows };
      const answer = await writer.call("append", request, [buffer]);
      if (answer.buffer.byteLength <= keptBatchBytes) this.#batch.restore(answer.buffer);
      if (answer.missing > 0) log.warn({ records: answer.missing }, "patches for records that are not stored");
      if (answer.conflicts.length > 0) {
        await this.#kept.recover(answer.conflicts, []);
        return { conflicts: answer.conflicts };
      }
      this.onRefusedDropped(answer.madeRoom);
    } catch (error) {
      this.#uncertain = true;
      for (const { device } of batch.devices) this.#uncertainDevices.add(device);
      for (const report of batch.refused) this.#perhapsStored.add(report);
      throw error;
    }
    chunks.forEach((chunk, offset) => {
      index.add(chunk.device, first + offset, chunk);
    });
    // Later commits must have higher numbers than this commit's shifts and patches, even if it has no chunk.
    index.past(first);
    this.#kept.committed(batch.devices, choice);
    for (const { device, from, count } of laid) {
      const known = index.get(device);
      if (known !== undefined) known.patches = moreWaiting(known.patches, count, from);
    }
    for (const { device, shifts, notices } of batch.devices) {
      if (notices !== undefined && notices.length > 0) this.#parts.crowded.made(device, notices.length);
      if (shifts !== undefined) this.#shifted(device, shifts);
      this.sealer.look(device);
    }
    return undefined;
  }

  #shifted(device: DeviceKey, shifts: readonly TotalsShift[]): void {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined) return;
    const since = shifts.reduce((least, { afterTime }) => Math.min(least, afterTime), Number.POSITIVE_INFINITY);
    chunks.shifts = moreWaiting(chunks.shifts, shifts.length, since);
  }

  /** Brings the index up to the tail after a commit of unknown outcome. Call it in a turn at the writer. */
  async settle(): Promise<void> {
    if (!this.#uncertain) return;
    await this.#resolveDoubt();
    const { next } = this.#parts.index;
    // Before all blocks are in the index, none is made.
    if (this.blocks.isWhole) await loadChunks(this.#loading, "scanBlocks", next);
    await this.#loadTail(next, next);
    // Where this is damaged, what there is to fold in waits for the next start.
    await this.#orDamaged(() => this.#loadWaiting());
    this.#loaded();
  }

  /** Decides where a device's new totals go: into chunks of the tail, or beside the chunks if blocks are concerned or the device is being sealed. */
  #patch({ device, patches }: DeviceCommit, rewrites: Rewrite[], laid: LaidPatches[]): void {
    const chunks = this.#parts.index.get(device);
    if (chunks === undefined) return;
    const groups = groupsOf(patches, chunks);
    const concernsBlocks = groups.some(({ from, to }) => chunks.hasSealed(from, to));
    // Also if patches wait already: these would hide totals that are written into a chunk now.
    if (!chunks.sealing && chunks.patches.count === 0 && !concernsBlocks) {
      const seqs = new Set(groups.flatMap(({ from, to }) => chunks.overlapping(from, to)));
      rewrites.push({ device, seqs: [...seqs], patches: packPatches(patches) });
      return;
    }
    for (const { from, to, patches } of groups)
      laid.push({ device, from, to, count: patches.length, patches: packPatches(patches) });
  }

  async context(
    device: DeviceKey,
    place: RecordPlace,
    limit: number,
    before?: "without before",
  ): Promise<HistoryContext> {
    return (await this.#context(device, place, limit, before === undefined)).unpack();
  }

  packedContext(device: DeviceKey, place: RecordPlace, limit: number): Promise<PackedContext> {
    return this.#context(device, place, limit, true);
  }

  async #context(device: DeviceKey, place: RecordPlace, limit: number, before: boolean): Promise<PackedContext> {
    if (this.#uncertain) await this.#reading.settled();
    return this.#contexts.find(device, place, limit, before);
  }

  countAbout(device: DeviceKey, from: number, to: number): number {
    const chunks = this.#parts.index.get(device);
    return chunks === undefined ? 0 : countAbout(chunks, from, to);
  }

  readable = () => this.blocks.whole();

  async moment(device: DeviceKey, time: number): Promise<Moment> {
    if (this.#uncertain) await this.#reading.settled();
    return this.#moments.find(device, time);
  }

  async oldPositions(devices: readonly DeviceKey[], before: number): Promise<readonly OldPositions[]> {
    await this.blocks.whole();
    if (this.#uncertain) await this.#reading.settled();
    return devices.map((device) => this.#old.find(device, before));
  }

  async deleteOld(device: DeviceKey, before: number): Promise<DeletedPositions> {
    await this.blocks.whole();
    return this.#old.delete(device, before);
  }

  history(device: DeviceKey, range: HistoryRange): AsyncIterable<HistoryChunk> {
    return readHistory(this.#reading, device, range);
  }
}
