import type { DeviceKey } from "../../model/device.ts";
import type { ChunkHead, ChunkRow, ChunksFound } from "../locations/chunks.ts";
import { changesDamaged, damaged, EngineError, noMatch } from "../locations/failures.ts";
import { recordsDamage } from "../records/damage.ts";
import { mostRecordBytes, recordBytes } from "../records/packed-rows.ts";
import { Patches, type PatchRow } from "../records/patches.ts";
import { areNumbersWhole, isWhole } from "../records/row-sum.ts";
import type { Shifts } from "../records/shifts.ts";
import { foundShifts, shiftRows, shiftsOf } from "./shift-rows.ts";
import type { Statement } from "./wire/messages.ts";
import { type Result, type Session, step } from "./wire/session.ts";
import { ints, type Row } from "./wire/values.ts";

const digits = "encode(substring(data, 5, 8), 'escape')";
/** Bytes of the records of a row of the tail before packing: see `recordBytes`. */
export const tailBytes = `case when substring(data, 1, 4) = decode('ffffffff', 'hex') and ${digits} ~ '^[0-9]{8}$' then least(${digits}::bigint, ${mostRecordBytes}) else octet_length(data)::bigint end`;

const tailRows: Statement = {
  name: "tail_rows",
  sql: "select seq, first, last, count, crc, data from tail where seq = any ($1::bigint[])",
};
const blockHead =
  "seq, first, last, count, bytes, as_of, odometer_mm, sensor1_ms, sensor2_ms, sensor3_ms, sensor4_ms, crc";
const blockRows: Statement = {
  name: "block_rows",
  sql: `select ${blockHead}, data from block left join block_data using (seq) where seq = any ($1::bigint[])`,
};
const tailHeads: Statement = {
  name: "tail_heads",
  sql: `select seq, first, last, count, crc, ${tailBytes} from tail where seq = any ($1::bigint[])`,
};
const blockHeads: Statement = {
  name: "block_heads",
  sql: `select ${blockHead} from block where seq = any ($1::bigint[])`,
};
const chunkSizes: Statement = {
  name: "chunk_sizes",
  sql: `select seq, ${tailBytes} from tail where seq = any ($1::bigint[])
    union all select seq, octet_length(data)::bigint from block_data where seq = any ($1::bigint[])`,
};
const patchRows: Statement = {
  name: "patches_of",
  sql: "select device, seq, first, last, count, crc, data from patch where device = any ($1::bigint[]) order by key",
};

/** Chunks of one device. */
export interface ChunksAsked {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
}

/** Rows of shifts and patches, not decoded yet. Each device's are decoded when they are needed, so that damage fails that device alone. */
interface WaitingRows {
  readonly shifts: ReadonlyMap<DeviceKey, Row>;
  readonly patches: ReadonlyMap<DeviceKey, readonly Row[]>;
}

const noPatches = new Patches([]);
const noBytes = new Uint8Array(0);

/** Gives the chunks of a request. Throws if the device's shifts or patches are damaged. Undefined if one of the chunks is gone. */
export type ChunksOf<Head extends ChunkHead> = (() => ChunksFound<Head>) | undefined;

/** Checks a chunk against the device that it should belong to. */
type OfDevice<Head extends ChunkHead> = (device: DeviceKey) => Head;

/** Finds the chunks of many requests with their shifts and patches, in one round trip and one snapshot. */
export async function findChunks(
  session: Session,
  requests: readonly ChunksAsked[],
): Promise<readonly ChunksOf<ChunkRow>[]> {
  const { seqs, devices } = keysOf(requests);
  const steps = [step(tailRows, seqs), step(blockRows, seqs), step(shiftRows, devices), step(patchRows, devices)];
  const [tail, blocks, shifts, patches] = await session.run(...steps).catch((error: unknown) => {
    throw ofOne(requests, error);
  });
  const rows = new Map([...keyed(tail, tailRowOf), ...keyed(blocks, blockRowOf)]);
  return gathered(requests, rows, waitingOf(shifts, patches), Number.POSITIVE_INFINITY);
}

/** The sizes of all chunks of some requests, by row number. The server knows them without reading the bytes. */
export async function findSizes(
  session: Session,
  requests: readonly ChunksAsked[],
): Promise<ReadonlyMap<number, number>> {
  const [sizes] = await session.run(step(chunkSizes, keysOf(requests).seqs));
  return new Map((sizes?.rows ?? []).map((row) => [row.int(), row.int()]));
}

/** Like `findChunks` for one request, but without the bytes, and with patches only up to the row number `until`. */
export async function findHeads(
  request: ChunksAsked,
  until: number,
  run: Session["run"],
): Promise<ChunksOf<ChunkHead>> {
  const { seqs, devices } = keysOf([request]);
  const [tail, blocks, shifts, patches] = await run(
    step(tailHeads, seqs),
    step(blockHeads, seqs),
    step(shiftRows, devices),
    step(patchRows, devices),
  );
  const rows = new Map<number, OfDevice<ChunkHead>>([...keyed(tail, tailHeadOf), ...keyed(blocks, blockHeadOf)]);
  return gathered([request], rows, waitingOf(shifts, patches), until)[0];
}

/** Reads chunks with their bytes in the caller's transaction. */
export async function readChunks(
  heads: readonly ChunkHead[],
  run: Session["run"],
): Promise<ReadonlyMap<number, ChunkRow>> {
  const seqsOf = (sealed: boolean) => ints(heads.filter((head) => head.sealed === sealed).map(({ seq }) => seq));
  const [tail, blocks] = await run(step(tailRows, seqsOf(false)), step(blockRows, seqsOf(true)));
  const found = new Map([...keyed(tail, tailRowOf), ...keyed(blocks, blockRowOf)]);
  const rows = new Map<number, ChunkRow>();
  for (const { seq, device } of heads) {
    const row = found.get(seq);
    if (row !== undefined) rows.set(seq, row(device));
  }
  return rows;
}

function keyed<T>(result: Result | undefined, read: (seq: number, row: Row) => T): readonly (readonly [number, T])[] {
  return (result?.rows ?? []).map((row) => {
    const seq = row.int();
    return [seq, read(seq, row)] as const;
  });
}

/** If there was one request only, adds its device to an error about damage. */
function ofOne(requests: readonly ChunksAsked[], error: unknown): unknown {
  const [only] = requests;
  if (requests.length !== 1 || only === undefined || !(error instanceof EngineError) || error.trouble !== "damaged")
    return error;
  return new EngineError(damaged(`positions of device ${only.device} can't be read: ${error.message}`));
}

function keysOf(requests: readonly ChunksAsked[]) {
  return {
    seqs: ints([...new Set(requests.flatMap(({ seqs }) => seqs))]),
    devices: ints([...new Set(requests.map(({ device }) => device))]),
  };
}

function waitingOf(ofShifts: Result | undefined, ofPatches: Result | undefined): WaitingRows {
  const patches = new Map<DeviceKey, Row[]>();
  for (const row of ofPatches?.rows ?? []) {
    const device = row.int();
    const all = patches.get(device) ?? [];
    patches.set(device, all);
    all.push(row);
  }
  return { shifts: new Map((ofShifts?.rows ?? []).map((row) => [row.int(), row])), patches };
}

function gathered<Head extends ChunkHead>(
  requests: readonly ChunksAsked[],
  rows: ReadonlyMap<number, OfDevice<Head>>,
  waiting: WaitingRows,
  until: number,
): readonly ChunksOf<Head>[] {
  // Many requests may ask for one device: its rows are decoded once.
  const beside = new Map<DeviceKey, Waiting>();
  return requests.map(({ device, seqs }) => {
    const own: Head[] = [];
    for (const seq of seqs) {
      const row = rows.get(seq);
      if (row === undefined) return undefined;
      own.push(row(device));
    }
    own.sort((one, other) => one.first - other.first || one.seq - other.seq);
    return () => {
      const known = beside.get(device) ?? waitingFor(device, waiting);
      beside.set(device, known);
      return { rows: own, shifts: known.shifts, patches: patchesOver(device, known.patches, own, until) };
    };
  });
}

interface WaitingPatch extends PatchRow {
  readonly first: number;
  readonly last: number;
}

/** The shifts and patches of a device that its chunks do not include yet. */
interface Waiting {
  readonly shifts: Shifts;
  readonly patches: readonly WaitingPatch[];
}

function waitingFor(device: DeviceKey, { shifts, patches }: WaitingRows): Waiting {
  const ofShifts = shifts.get(device);
  return {
    shifts: shiftsOf(device, ofShifts && foundShifts(device, ofShifts)),
    patches: patches.get(device)?.map((row) => patchOf(device, row)) ?? [],
  };
}

function patchOf(device: DeviceKey, row: Row): WaitingPatch {
  const [seq, first, last, count] = [row.int(), row.int(), row.int(), row.int()];
  const crc = row.maybeInt();
  const data = row.bytes() ?? noBytes;
  if (isWhole(crc, [device, seq, first, last, count], data) === false) throw changesDamaged(device, noMatch);
  return { seq, first, last, data };
}

/** The patches that may concern the chunks `rows`, which are sorted by their first records. */
function patchesOver(
  device: DeviceKey,
  all: readonly WaitingPatch[],
  rows: readonly ChunkHead[],
  until: number,
): Patches {
  if (all.length === 0) return noPatches;
  const first = rows[0]?.first ?? 0;
  const last = rows.reduce((latest, row) => Math.max(latest, row.last), Number.NEGATIVE_INFINITY);
  const near = all.filter((patch) => patch.seq <= until && patch.last >= first && patch.first <= last);
  try {
    return near.length === 0 ? noPatches : new Patches(near);
  } catch (error) {
    const problem = recordsDamage(error);
    throw problem === undefined ? error : changesDamaged(device, problem);
  }
}

function tailNumbers(row: Row) {
  const [first, last, count] = [row.int(), row.int(), row.int()];
  return { first, last, count, crc: row.maybeInt() };
}

function tailHeadOf(seq: number, row: Row): OfDevice<ChunkHead> {
  const { first, last, count } = tailNumbers(row);
  const head = { seq, first, last, count, bytes: row.int(), sealed: false, asOf: seq };
  return (device) => ({ ...head, device });
}

/** Reads a row of the tail with its bytes, from its second column on; the first, its number, was read already. */
export function tailRowOf(seq: number, row: Row): OfDevice<ChunkRow> {
  const { first, last, count, crc } = tailNumbers(row);
  const data = row.bytes() ?? noBytes;
  const head = { seq, first, last, count, bytes: recordBytes(data), sealed: false, asOf: seq, data };
  return (device) => ({ ...head, device, whole: isWhole(crc, [seq, device, first, last, count], data) });
}

function blockHeadOf(seq: number, row: Row): OfDevice<ChunkHead> {
  const [first, last, count, bytes, asOf] = [row.int(), row.int(), row.int(), row.int(), row.int()] as const;
  const sums = [row.int(), row.int(), row.int(), row.int(), row.int()] as const;
  const crc = row.maybeInt();
  const [odometerMm, ...sensorMs] = sums;
  const head = { seq, first, last, count, bytes, sealed: true, asOf };
  const lifted = sums.some((sum) => sum !== 0) ? { ...head, sums: { odometerMm, sensorMs } } : head;
  return (device) => ({
    ...lifted,
    device,
    whole: areNumbersWhole(crc, [seq, device, first, last, count, bytes, asOf, ...sums]),
  });
}

/** A block whose bytes are missing counts as damaged, not as gone. */
function blockRowOf(seq: number, row: Row): OfDevice<ChunkRow> {
  const head = blockHeadOf(seq, row);
  const data = row.bytes() ?? noBytes;
  return (device) => ({ ...head(device), data });
}
