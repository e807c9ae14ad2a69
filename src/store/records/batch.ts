import type { CommitBatch, DeviceCommit } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { LocationRecord } from "../../model/location.ts";
import { writeRecord } from "./record-codec.ts";
import { writeShifts } from "./shifts.ts";
import type { ByteSink } from "./sink.ts";
import { writeState } from "./state-codec.ts";

/**
 * Most records of one chunk. A chunk is read and decoded whole, so this bounds what a reader holds for each chunk that overlaps others;
 * a tracker's packet seldom has more than 255 records.
 */
export const chunkRecords = 256;
/** And its bytes, but for one record that is larger by itself: records with long texts make short chunks. */
export const chunkBytes = 256 * 1024;

/** One row of the tail: records of one device from one commit, in their order. */
export interface Chunk {
  readonly device: DeviceKey;
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly bytes: number;
}

/** What a commit changes in chunks that are stored already. */
export interface Rewrite {
  readonly device: DeviceKey;
  /** The chunks that may hold the records concerned. */
  readonly seqs: readonly number[];
  /** See `packPatches`. */
  readonly patches: Uint8Array;
}

/** New totals of a device's records that a commit stores beside the device's chunks: see `Patches`. */
export interface LaidPatches {
  readonly device: DeviceKey;
  /** Event times of the records concerned. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** See `packPatches`. */
  readonly patches: Uint8Array;
}

/*
 * The batch as bytes, little endian; the writer copies record bytes from here into rows without looking at them.
 *   batch:  u32 devices, then each device
 *   device: f64 key, f64 version, f64 version before, f64 as of, u32 length of its state (0: the state is not written), the state, u32 shifts and, where there are some,
 *           f64 earliest time, u32 length, the shifts; u32 chunks, then each chunk
 *   chunk:  f64 first, f64 last, u32 count, u32 length, the records
 */
const deviceHeader = 36;
const chunkHeader = 24;

/** Whether a device has stored records between two event times, as far as its index tells. */
export type Separates = (device: DeviceKey, from: number, to: number) => boolean;

/** Decides which states a batch writes. */
export interface StatesOfBatch {
  /** The version that the stored state of a device must have. */
  versionBefore(commit: DeviceCommit): number;
  /** Whether the state is written. One that is not can be made again from the stored state and the chunks that are newer. */
  writes(commit: DeviceCommit): boolean;
  /** The row number up to which the state includes the device's chunks, where the commit has no chunk of its own. */
  asOf(commit: DeviceCommit): number;
}

/** Writes every state, of devices that have no chunks yet. */
const allStates: StatesOfBatch = {
  versionBefore: ({ state }) => state.version - 1,
  writes: () => true,
  asOf: () => 0,
};

/**
 * Packs states, shifts and new records. Returns the chunks in the order in which the writer numbers them, from `seq` on. Records between which others are stored are in chunks of
 * their own: a chunk that reaches over many others would be read with each of these.
 */
export function packBatch(
  sink: ByteSink,
  devices: CommitBatch["devices"],
  seq: number,
  separates: Separates,
  states: StatesOfBatch = allStates,
): readonly Chunk[] {
  const chunks: Chunk[] = [];
  sink.length = 0;
  sink.uint32(devices.length);
  for (const commit of devices) {
    const { device, state, records, shifts } = commit;
    const header = sink.length;
    sink.float64(device);
    sink.float64(state.version);
    sink.float64(states.versionBefore(commit));
    sink.float64(0);
    sink.uint32(0);
    if (states.writes(commit)) {
      writeState(sink, state);
      sink.view.setUint32(header + deviceHeader - 4, sink.length - header - deviceHeader, true);
    }
    packShifts(sink, seq, shifts ?? []);
    const counted = sink.length;
    sink.uint32(0);
    let count = 0;
    for (let start = 0; start < records.length; count++) {
      const chunk = packChunk(sink, device, records, start, separates);
      chunks.push(chunk);
      start += chunk.count;
    }
    sink.view.setUint32(counted, count, true);
    sink.view.setFloat64(header + 24, count > 0 ? seq + chunks.length - 1 : states.asOf(commit), true);
  }
  return chunks;
}

function packShifts(sink: ByteSink, seq: number, shifts: NonNullable<DeviceCommit["shifts"]>): void {
  sink.uint32(shifts.length);
  if (shifts.length === 0) return;
  let since = Number.POSITIVE_INFINITY;
  for (const { afterTime } of shifts) if (afterTime < since) since = afterTime;
  sink.float64(since);
  sink.uint32(0);
  const start = sink.length;
  writeShifts(sink, seq, shifts);
  sink.view.setUint32(start - 4, sink.length - start, true);
}

function packChunk(
  sink: ByteSink,
  device: DeviceKey,
  records: readonly LocationRecord[],
  start: number,
  separates: Separates,
): Chunk {
  const header = sink.length;
  sink.reserve(chunkHeader);
  sink.length += chunkHeader;
  const most = Math.min(records.length, start + chunkRecords);
  let end = start;
  for (; end < most && (end === start || sink.length - header < chunkBytes); end++) {
    const record = records[end];
    if (record === undefined) break;
    const before = end === start ? undefined : records[end - 1];
    if (before !== undefined && separates(device, before.time, record.time)) break;
    writeRecord(sink, record);
  }
  const first = records[start]?.time ?? 0;
  const last = records[end - 1]?.time ?? first;
  const count = end - start;
  const bytes = sink.length - header - chunkHeader;
  const { view } = sink;
  view.setFloat64(header, first, true);
  view.setFloat64(header + 8, last, true);
  view.setUint32(header + 16, count, true);
  view.setUint32(header + 20, bytes, true);
  return { device, first, last, count, bytes };
}

/** A device's state in a batch. */
export interface PackedState {
  readonly version: number;
  /** The version that the stored state must have. */
  readonly versionBefore: number;
  /** The state includes the chunks up to this row number. */
  readonly asOf: number;
  /** Undefined: the state is not written. */
  readonly bytes: Uint8Array | undefined;
}

/** What the writer does with a batch, in order. Byte arrays are views of the batch. */
export interface BatchVisitor {
  device(key: DeviceKey, state: PackedState): void;
  /** `since`: the earliest time that they are after. */
  shifts(device: DeviceKey, count: number, since: number, bytes: Uint8Array): void;
  chunk(device: DeviceKey, first: number, last: number, count: number, records: Uint8Array): void;
}

/** Walks over a packed batch. */
export function unpackBatch(buffer: ArrayBuffer, visitor: BatchVisitor): void {
  const view = new DataView(buffer);
  const devices = view.getUint32(0, true);
  let at = 4;
  for (let index = 0; index < devices; index++) {
    const device = view.getFloat64(at, true);
    const length = view.getUint32(at + 32, true);
    visitor.device(device, {
      version: view.getFloat64(at + 8, true),
      versionBefore: view.getFloat64(at + 16, true),
      asOf: view.getFloat64(at + 24, true),
      bytes: length === 0 ? undefined : new Uint8Array(buffer, at + deviceHeader, length),
    });
    at = unpackShifts(view, at + deviceHeader + length, device, visitor);
    const chunks = view.getUint32(at, true);
    at += 4;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const length = view.getUint32(at + 20, true);
      visitor.chunk(
        device,
        view.getFloat64(at, true),
        view.getFloat64(at + 8, true),
        view.getUint32(at + 16, true),
        new Uint8Array(buffer, at + chunkHeader, length),
      );
      at += chunkHeader + length;
    }
  }
}

function unpackShifts(view: DataView<ArrayBuffer>, at: number, device: DeviceKey, visitor: BatchVisitor): number {
  const count = view.getUint32(at, true);
  if (count === 0) return at + 4;
  const length = view.getUint32(at + 12, true);
  visitor.shifts(device, count, view.getFloat64(at + 4, true), new Uint8Array(view.buffer, at + 16, length));
  return at + 16 + length;
}
