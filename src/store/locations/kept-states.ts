import { bytesOfState } from "../../fold/state.ts";
import type { DeviceCommit } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { DeviceState } from "../../model/location.ts";
import type { Log } from "../../ports/log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { packBatch, type StatesOfBatch } from "../records/batch.ts";
import { isOutOfMemory } from "../records/damage.ts";
import { ByteSink } from "../records/sink.ts";
import { Background } from "./background.ts";
import type { CommitRequest, Link, ReaderCalls, WriterCalls } from "./calls.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import type { Mutex } from "./mutex.ts";
import { asOfSetting, followRows, type NewRow, readStored, type StoredState } from "./stored-states.ts";

/** All kept states are written after this many row numbers. A start after a crash reads the rows of the tail that came since, which takes about a second. */
const mostRows = 16_384;
/** Memory of kept states (an estimate). What is more is written with its commit. */
const mostBytes = 32 * 1024 * 1024;
/** A state that takes more than this is written with its commit. */
const largeBytes = 64 * 1024;
/** States that are written at a time: some milliseconds of the writer. */
const sliceStates = 256;
/** No stored state has this version, so that the commit is a conflict. */
const noVersion = -1;
/** Pause after a failure, ms. */
const retryMs = 1000;

/** What kept states work with. */
export interface KeptStatesParts {
  readonly writer: Link<WriterCalls>;
  readonly reader: Link<ReaderCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  readonly log: Log;
}

/** A state that is newer than its row. */
interface Kept extends StoredState {
  /** The version of the row. */
  readonly stored: number;
  readonly bytes: number;
}

/** What a commit does to states. */
export interface Choice extends StatesOfBatch {
  /** States that the commit does not write. */
  readonly kept: ReadonlyMap<DeviceKey, Omit<Kept, "asOf">>;
}

/**
 * States that commits did not write. A commit whose records are newer than all before rewrites a page of the database for each state, which is most of what the commit
 * would write. Such a state is kept here instead and written with many others. After a crash the stored state and the newer rows of the tail give the state again.
 */
export class KeptStates {
  readonly #parts: KeptStatesParts;
  readonly #states = new Map<DeviceKey, Kept>();
  readonly #sink = new ByteSink(sliceStates * 512);
  readonly #background = new Background(() => this.#work());
  /**
   * Devices whose stored state can't be read, each with the rows that its state is to include. Such a device can't commit, and its rows can't be sealed: their records would be
   * missing from the state for good.
   */
  readonly #unread = new Map<DeviceKey, readonly NewRow[]>();
  #bytes = 0;
  /** Rows from this number on came after the last time that all states were written. */
  #since = 1;

  constructor(parts: KeptStatesParts) {
    this.#parts = parts;
  }

  /** The state of a device. Undefined: its row has it. */
  get(device: DeviceKey): DeviceState | undefined {
    return this.#states.get(device)?.state;
  }

  /** Reads which rows of the tail stored states may not include. Returns the number of the first one. */
  async open(): Promise<number> {
    const asOf = asOfSetting(await this.#parts.reader.call("statesAsOf", null));
    // The rows with the highest numbers may be gone. New rows that had their numbers would seem to be in the stored states.
    this.#parts.index.past(asOf);
    this.#since = asOf + 1;
    return this.#since;
  }

  /** Decides which states a commit writes. */
  choose(devices: readonly DeviceCommit[]): Choice {
    const kept = new Map<DeviceKey, Omit<Kept, "asOf">>();
    let bytes = this.#bytes;
    for (const commit of devices) {
      const { device, state } = commit;
      const before = this.#states.get(device);
      const taken = bytesOfState(state);
      const grown = bytes + taken - (before?.bytes ?? 0);
      if (!commit.follows || commit.records.length === 0 || taken > largeBytes || grown > mostBytes) continue;
      bytes = grown;
      kept.set(device, { state, stored: this.#versionBefore(commit), bytes: taken });
    }
    return {
      kept,
      versionBefore: (commit) => this.#versionBefore(commit),
      writes: ({ device }) => !kept.has(device),
      asOf: ({ device }) => this.#parts.index.newest(device),
    };
  }

  #versionBefore({ device, state }: DeviceCommit): number {
    const kept = this.#states.get(device);
    if (kept === undefined) return state.version - 1;
    return kept.state.version === state.version - 1 ? kept.stored : noVersion;
  }

  /** Takes up what a commit did, whose chunks are in the index. */
  committed(devices: readonly DeviceCommit[], { kept }: Choice): void {
    for (const { device } of devices) {
      const one = kept.get(device);
      this.#put(device, one && { ...one, asOf: this.#parts.index.newest(device) });
    }
    if (this.#isDue) this.#background.start();
  }

  get #isDue(): boolean {
    return this.#parts.index.next - this.#since > mostRows || this.#bytes > mostBytes / 2;
  }

  /** Writes the state of a device before rows of the tail go that the state was to be made of. Call it in a turn at the writer. */
  async write(device: DeviceKey): Promise<void> {
    await this.complete([device]);
    if (this.#states.has(device)) await this.#write([device]);
  }

  /** Forgets a device that was removed. */
  forget(device: DeviceKey): void {
    this.#put(device, undefined);
    this.#unread.delete(device);
  }

  /** Whether the state of some device could not be made. */
  get lacking(): boolean {
    return this.#unread.size > 0;
  }

  /** Whether the state of one of these devices could not be made. */
  lacks(devices: readonly DeviceKey[]): boolean {
    return this.lacking && devices.some((device) => this.#unread.has(device));
  }

  /** Tries again to make the states that could not be made. Rejects where one still can't be. Call it in a turn at the writer. */
  async complete(devices: readonly DeviceKey[]): Promise<void> {
    const lacking = devices.filter((device) => this.#unread.has(device));
    if (lacking.length > 0) await this.#remake(this.#rowsOf(lacking, []));
  }

  /**
   * Makes states again where commits may have written something else than what is known here. `rows` are newer than all that is known here. A state is made from the stored state,
   * or from the kept one where the stored one is older, and from the rows that are newer. A device whose state can't be read does not keep others from having theirs.
   */
  async recover(devices: Iterable<DeviceKey>, rows: readonly NewRow[]): Promise<void> {
    await this.#remakeEach(this.#rowsOf(devices, rows));
  }

  /** These devices and those of the rows, each with its rows, and with those that it still lacks. */
  #rowsOf(devices: Iterable<DeviceKey>, rows: readonly NewRow[]): Map<DeviceKey, NewRow[]> {
    const all = new Map<DeviceKey, NewRow[]>();
    const of = (device: DeviceKey) => {
      const known = all.get(device) ?? [...(this.#unread.get(device) ?? [])];
      all.set(device, known);
      return known;
    };
    for (const device of devices) of(device);
    for (const row of rows) {
      const known = of(row.device);
      if (row.seq > (known.at(-1)?.seq ?? 0)) known.push(row);
    }
    return all;
  }

  /** Makes states together, or each by itself where one of them can't be made. */
  async #remakeEach(devices: ReadonlyMap<DeviceKey, readonly NewRow[]>): Promise<void> {
    try {
      await this.#remake(devices);
    } catch (error) {
      if (!isOfDevice(error)) throw error;
      const all = [...devices];
      if (all.length > 1) {
        const half = all.length >> 1;
        await this.#remakeEach(new Map(all.slice(0, half)));
        await this.#remakeEach(new Map(all.slice(half)));
        return;
      }
      for (const [device, rows] of all) {
        this.#unread.set(device, rows);
        this.#parts.log.error(
          { device, error: String(error) },
          "the state of a device can't be read; it is tried again",
        );
      }
    }
  }

  async #remake(devices: ReadonlyMap<DeviceKey, readonly NewRow[]>): Promise<void> {
    const { reader } = this.#parts;
    const stored = await readStored(reader, [...devices.keys()]);
    const made = new Map<DeviceKey, StoredState>();
    const newer: NewRow[] = [];
    for (const [device, rows] of devices) {
      const row = stored.get(device);
      // The device is gone.
      if (row === undefined) continue;
      const known = this.#states.get(device);
      const isKept = known?.stored === row.state.version;
      const base = isKept ? known : row;
      const missing = rows.filter(({ seq }) => seq > base.asOf);
      for (const one of missing) newer.push(one);
      if (isKept || missing.length > 0) made.set(device, base);
    }
    newer.sort((one, other) => one.seq - other.seq);
    await followRows(reader, newer, made);
    // In one step: who asks meanwhile finds the state with all of its rows or with none, and a try that fails changes nothing.
    for (const device of devices.keys()) {
      const [row, after] = [stored.get(device), made.get(device)];
      const kept = row && after && { ...after, stored: row.state.version, bytes: bytesOfState(after.state) };
      this.#put(device, kept);
      this.#unread.delete(device);
    }
  }

  /** Writes all states, so that the next start makes none again. */
  async close(): Promise<void> {
    await this.#background.close();
    try {
      await this.#writeAll(() => false);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "states can't be written; the next start makes them again");
    }
  }

  async #work(): Promise<void> {
    if (!this.#isDue) return;
    try {
      await this.#writeAll(() => this.#background.closed);
    } catch (error) {
      const text = "states can't be written now; they are kept, and writing is tried again";
      this.#parts.log.warn({ error: String(error) }, text);
      await this.#background.pause(retryMs);
    }
  }

  /** Writes all states, some at a time, while commits go on. */
  async #writeAll(ends: () => boolean): Promise<void> {
    const { turns } = this.#parts;
    const begun = await turns.run(() => this.#standing());
    const { until, devices } = begun;
    let all = begun.isWhole;
    for (let from = 0; from < devices.length; from += sliceStates) {
      if (ends()) return;
      const slice = devices.slice(from, from + sliceStates);
      all = (await turns.run(() => this.#writeEach(slice))) && all;
    }
    // Where a state is not written, the next start must find its rows.
    if (all) await turns.run(() => this.#append([], until));
    this.#since = until + 1;
  }

  /**
   * In a turn at the writer: the highest row number, and the devices whose states are kept. `isWhole`: the stored states and these include all rows up to that number. Rows of a
   * commit that was not answered are not in a state before they are looked for, and those of a device whose state can't be read are in none.
   */
  async #standing() {
    await this.#parts.settle();
    // In the order of their rows, so that a page is written once for all states that it has.
    const devices = [...this.#states.keys()].sort((one, other) => one - other);
    return { until: this.#parts.index.next - 1, devices, isWhole: this.#unread.size === 0 };
  }

  /** Writes states together, or each by itself where one of them can't be written. Returns whether all are written. */
  async #writeEach(devices: readonly DeviceKey[]): Promise<boolean> {
    try {
      await this.#write(devices);
      return true;
    } catch (error) {
      if (!isOfDevice(error)) throw error;
      // A disk that takes nothing gives the same errors.
      await this.#parts.writer.call("check", null);
      if (devices.length === 1) {
        this.#parts.log.error({ device: devices[0], error: String(error) }, "the state of a device can't be written");
        return false;
      }
      const half = devices.length >> 1;
      const first = await this.#writeEach(devices.slice(0, half));
      return (await this.#writeEach(devices.slice(half))) && first;
    }
  }

  /** In a turn at the writer: writes kept states. */
  async #write(devices: readonly DeviceKey[]): Promise<void> {
    await this.#parts.settle();
    const kept = devices.filter((device) => this.#states.has(device));
    if (kept.length === 0) return;
    const conflicts = await this.#append(kept);
    if (conflicts.length === 0) {
      for (const device of kept) this.#put(device, undefined);
      return;
    }
    // These devices are gone, or an earlier try has written their states.
    await this.recover(conflicts, []);
    if (conflicts.some((device) => this.#states.has(device))) throw new Error("reader and writer differ");
    await this.#write(kept);
  }

  /**
   * Writes the states of devices, and where `asOf` is given, that stored states include all rows up to this number. Returns the devices whose stored states are not those that are
   * known here. When there are any, nothing was written.
   */
  async #append(devices: readonly DeviceKey[], asOf?: number): Promise<readonly DeviceKey[]> {
    const { index, writer } = this.#parts;
    const commits = devices.flatMap((device) => {
      const state = this.#states.get(device)?.state;
      return state === undefined ? [] : [{ device, state, records: [], patches: [] }];
    });
    packBatch(this.#sink, commits, index.next, () => false, {
      versionBefore: ({ device }) => this.#states.get(device)?.stored ?? noVersion,
      writes: () => true,
      asOf: ({ device }) => this.#states.get(device)?.asOf ?? 0,
    });
    const buffer = this.#sink.take();
    const answer = await writer.call("append", { ...nothingElse, buffer, seq: index.next, asOf }, [buffer]);
    this.#sink.restore(answer.buffer);
    return answer.conflicts;
  }

  #put(device: DeviceKey, kept: Kept | undefined): void {
    this.#bytes += (kept?.bytes ?? 0) - (this.#states.get(device)?.bytes ?? 0);
    if (kept === undefined) this.#states.delete(device);
    else this.#states.set(device, kept);
  }
}

const nothingElse = {
  rewrites: [],
  laid: [],
  refused: [],
  refusedBefore: false,
  refusedBytes: 0,
  alerts: [],
  notices: [],
  ended: [],
} satisfies Omit<CommitRequest, "buffer" | "seq">;

/** Whether the failure may be that of one device's row, so that others can be read or written without it. */
function isOfDevice(error: unknown): boolean {
  return error instanceof StoreUnavailable ? error.trouble !== "down" : !isOutOfMemory(error);
}
