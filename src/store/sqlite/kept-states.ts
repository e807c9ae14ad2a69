import { followedState } from "../../fold/state.ts";
import type { DeviceCommit } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { DeviceState } from "../../model/location.ts";
import type { Log } from "../../ports/log.ts";
import { packBatch, type StatesOfBatch } from "../records/batch.ts";
import { wholeRecords } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { readRecords } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import { readState } from "../records/state-codec.ts";
import { Background } from "./background.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import type { PlacedChunk } from "./device-chunks.ts";
import { isDown } from "./engine-errors.ts";
import { type CommitRequest, type ReaderCalls, stateNumbers, type WriterCalls } from "./messages.ts";
import type { Mutex } from "./mutex.ts";
import type { WorkerLink } from "./worker-link.ts";

/** After so many row numbers all kept states are written. A start after a crash reads the rows of the tail that came since: some tenths of a second. */
const mostRows = 16_384;
/** Memory of kept states (an estimate). What is more is written with its commit. */
const mostBytes = 32 * 1024 * 1024;
/** A state that takes more than this is written with its commit. */
const largeBytes = 64 * 1024;
/** What a state takes beside its texts. */
const stateBytes = 1000;
/** States that are written at a time: some milliseconds of the writer. */
const sliceStates = 256;
/** Rows that are read at a time, at most. */
const sliceRows = 1024;
/** States that are asked for at a time. */
const statesAtOnce = 4096;
/** No stored state has this version, so that the commit is a conflict. */
const noVersion = -1;
/** Pause after a failure, ms. */
const retryMs = 1000;

/** What kept states work with. */
export interface KeptStatesParts {
  readonly writer: WorkerLink<WriterCalls>;
  readonly reader: WorkerLink<ReaderCalls>;
  readonly turns: Mutex;
  readonly index: ChunkIndex;
  /** Brings the index up to the tail, in a turn at the writer. */
  settle(): Promise<void>;
  readonly log: Log;
}

/** A state that is newer than its row. */
interface Kept {
  readonly state: DeviceState;
  /** The version of the row. */
  readonly stored: number;
  readonly bytes: number;
}

/** A row of the tail that a stored state may not include. */
export interface NewRow extends Pick<PlacedChunk, "seq" | "first" | "last" | "count"> {
  readonly device: DeviceKey;
}

/** A state as it is stored. */
export interface StoredState {
  readonly state: DeviceState;
  /** The state includes the device's chunks up to this row number. */
  readonly asOf: number;
}

/** What a commit does to states. */
export interface Choice extends StatesOfBatch {
  /** States that the commit does not write. */
  readonly kept: ReadonlyMap<DeviceKey, Kept>;
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
  #bytes = 0;
  /** The first row number that stored states may not include. */
  #since = 1;

  constructor(parts: KeptStatesParts) {
    this.#parts = parts;
  }

  /** Kept states. */
  get size(): number {
    return this.#states.size;
  }

  /** The state of a device. Undefined: its row has it. */
  get(device: DeviceKey): DeviceState | undefined {
    return this.#states.get(device)?.state;
  }

  /** Reads which rows of the tail stored states may not include. Returns the number of the first one. */
  async open(): Promise<number> {
    const sql = "select value from setting where name = 'states'";
    const { rows } = await this.#parts.reader.call("sql", { sql, parameters: [] });
    this.#since = Number(rows[0]?.value ?? 0) + 1;
    return this.#since;
  }

  /** Decides which states a commit writes. */
  choose(devices: readonly DeviceCommit[]): Choice {
    const kept = new Map<DeviceKey, Kept>();
    let bytes = this.#bytes;
    for (const commit of devices) {
      const { device, state } = commit;
      const before = this.#states.get(device);
      const taken = bytesOf(state);
      const grown = bytes + taken - (before?.bytes ?? 0);
      if (!commit.follows || commit.records.length === 0 || taken > largeBytes || grown > mostBytes) continue;
      bytes = grown;
      kept.set(device, { state, stored: this.#versionBefore(commit), bytes: taken });
    }
    return {
      kept,
      versionBefore: (commit) => this.#versionBefore(commit),
      writes: ({ device }) => !kept.has(device),
    };
  }

  #versionBefore({ device, state }: DeviceCommit): number {
    const kept = this.#states.get(device);
    if (kept === undefined) return state.version - 1;
    return kept.state.version === state.version - 1 ? kept.stored : noVersion;
  }

  /** Takes up what a commit did. */
  committed(devices: readonly DeviceCommit[], { kept }: Choice): void {
    for (const { device } of devices) this.#put(device, kept.get(device));
    if (this.#parts.index.next - this.#since > mostRows || this.#bytes > mostBytes / 2) this.#background.start();
  }

  /** Writes the state of a device before rows of the tail go that the state was to be made of. Call it in a turn at the writer. */
  async write(device: DeviceKey): Promise<void> {
    if (this.#states.has(device)) await this.#write([device]);
  }

  /**
   * Makes states again where commits may have written something else than what is known here. `rows` are newer than all that is known here. A state is made from the stored state,
   * or from the kept one where the stored one is older, and from the rows that are newer.
   */
  async recover(devices: Iterable<DeviceKey>, rows: readonly NewRow[]): Promise<void> {
    const all = new Set(devices);
    for (const { device } of rows) all.add(device);
    const stored = await readStored(this.#parts.reader, [...all]);
    const states = new Map<DeviceKey, DeviceState>();
    for (const device of all) {
      const row = stored.get(device);
      const known = this.#states.get(device);
      if (row !== undefined && known?.stored === row.state.version) states.set(device, known.state);
      else {
        // The device is gone, or its state was written.
        this.#put(device, undefined);
        if (row !== undefined) states.set(device, row.state);
      }
    }
    const newer = rows.filter(({ device, seq }) => {
      const row = stored.get(device);
      return row !== undefined && (this.#states.has(device) || seq > row.asOf);
    });
    await this.#follow(newer, states);
    for (const { device } of newer) {
      const [row, state] = [stored.get(device), states.get(device)];
      if (row !== undefined && state !== undefined)
        this.#put(device, { state, stored: row.state.version, bytes: bytesOf(state) });
    }
  }

  /** Adds the records of rows to states. */
  async #follow(rows: readonly NewRow[], states: Map<DeviceKey, DeviceState>): Promise<void> {
    for (let from = 0; from < rows.length; ) {
      const seqs = rows.slice(from, from + sliceRows).map(({ seq }) => seq);
      const { ends, bytes } = await this.#parts.reader.call("rows", seqs);
      let begin = 0;
      ends.forEach((end, index) => {
        const row = rows[from + index];
        const before = row && states.get(row.device);
        if (row !== undefined && before !== undefined)
          states.set(row.device, stateAfter(before, row, bytes.subarray(begin, end)));
        begin = end;
      });
      from += ends.length;
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
    const { turns, index } = this.#parts;
    const until = index.next - 1;
    // In the order of their rows, so that a page is written once for all states that it has.
    const devices = [...this.#states.keys()].sort((one, other) => one - other);
    for (let from = 0; from < devices.length; from += sliceStates) {
      if (ends()) return;
      await turns.run(() => this.#writeEach(devices.slice(from, from + sliceStates)));
    }
    await turns.run(() => this.#write([], until));
    this.#since = until + 1;
  }

  /** Writes states together, or each by itself when one of them can't be written. */
  async #writeEach(devices: readonly DeviceKey[]): Promise<void> {
    try {
      await this.#write(devices);
    } catch (error) {
      if (isDown(error) || devices.length === 0) throw error;
      if (devices.length === 1) {
        // Its row is damaged: the device's own commits fail, too.
        this.#parts.log.error({ device: devices[0], error: String(error) }, "the state of a device can't be written");
        return;
      }
      const half = devices.length >> 1;
      await this.#writeEach(devices.slice(0, half));
      await this.#writeEach(devices.slice(half));
    }
  }

  /** In a turn at the writer: writes kept states. `asOf`: from now on each stored state includes the chunks up to this row number. */
  async #write(devices: readonly DeviceKey[], asOf?: number): Promise<void> {
    const { index, writer } = this.#parts;
    await this.#parts.settle();
    const commits = devices.flatMap((device) => {
      const state = this.#states.get(device)?.state;
      return state === undefined ? [] : [{ device, state, records: [], patches: [] }];
    });
    if (commits.length === 0 && asOf === undefined) return;
    packBatch(this.#sink, commits, index.next, () => false, {
      versionBefore: ({ device }) => this.#states.get(device)?.stored ?? noVersion,
      writes: () => true,
    });
    const buffer = this.#sink.take();
    const answer = await writer.call("append", { ...nothingElse, buffer, seq: index.next, asOf }, [buffer]);
    this.#sink.restore(answer.buffer);
    const { conflicts } = answer;
    if (conflicts.length === 0) {
      for (const device of devices) this.#put(device, undefined);
      return;
    }
    // These devices are gone, or an earlier try has written their states.
    await this.recover(conflicts, []);
    await this.#write(devices, asOf);
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
} satisfies Omit<CommitRequest, "buffer" | "seq">;

/** Memory that a state takes (an estimate). */
function bytesOf({ last, rules }: DeviceState): number {
  return stateBytes + 2 * ((last?.extras.length ?? 0) + (last?.alerts?.length ?? 0)) + (rules?.length ?? 0);
}

/** The state after a row of the tail. Where the row is damaged, its records are lost, but what its columns say is known. */
function stateAfter(before: DeviceState, row: NewRow, data: Uint8Array): DeviceState {
  try {
    return followedState(before, readRecords(wholeRecords({ ...row, data })));
  } catch (error) {
    if (recordsDamage(error) === undefined) throw error;
    const { version, arrivals, time } = before;
    return { ...before, version: version + 1, arrivals: arrivals + row.count, time: Math.max(time, row.last) };
  }
}

/** Reads stored states. Devices that have none are left out. */
export async function readStored(
  reader: WorkerLink<ReaderCalls>,
  devices: readonly DeviceKey[],
): Promise<ReadonlyMap<DeviceKey, StoredState>> {
  const found = new Map<DeviceKey, StoredState>();
  for (let from = 0; from < devices.length; ) {
    const { answered, table, bytes } = await reader.call("states", devices.slice(from, from + statesAtOnce));
    for (let at = 0; at < table.length; at += stateNumbers) {
      const [device = 0, version = 0, asOf = 0, begin = 0, end = 0] = table.subarray(at, at + stateNumbers);
      found.set(device, { state: readState(bytes.subarray(begin, end), version), asOf });
    }
    from += answered;
  }
  return found;
}
