import { zstdCompressSync } from "node:zlib";
import { type Increment, Increments } from "../../fold/increments.ts";
import { contentHashOf } from "../../model/content-hash.ts";
import type { DeviceKey } from "../../model/device.ts";
import { firstArrival, type LocationRecord } from "../../model/location.ts";
import { recordsDamage } from "../records/damage.ts";
import { RecordCursor } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import { writeTotals } from "../records/state-codec.ts";
import { BlockCursor } from "./block-cursor.ts";
import { putSized } from "./bytes.ts";
import { ExtrasColumns } from "./extras.ts";
import {
  aside,
  blockHeader,
  bodyOf,
  checksumFor,
  counted,
  doubt,
  hasAlerts,
  hasCourse,
  hasPositionTime,
  hasSpeed,
  headerLength,
  moved,
  numbered,
  ofColumns,
  ofRecords,
  ownHash,
  ownTotals,
  type StoredBlock,
  uncounted,
  underway,
  unlocated,
  valid,
} from "./layout.ts";
import { putNumbers } from "./numbers.ts";
import { TextColumn } from "./texts.ts";

function marksOf(record: LocationRecord): number {
  let marks = record.valid ? valid : 0;
  if (record.speed !== undefined) marks |= hasSpeed;
  if (record.course !== undefined) marks |= hasCourse;
  if (record.unlocated) marks |= unlocated;
  else if (record.positionTime !== undefined) marks |= hasPositionTime;
  if (record.alerts !== undefined) marks |= hasAlerts;
  if (record.arrival !== record.hash) marks |= numbered;
  if (contentHashOf(record) !== record.hash) marks |= ownHash;
  return marks;
}

function marksOfIncrement(increment: Increment): number {
  return (
    (increment.moved ? moved : 0) |
    (increment.underway ? underway : 0) |
    (increment.uncounted ? uncounted : 0) |
    (increment.aside ? aside : 0) |
    (increment.doubt ? doubt : 0) |
    (increment.countedMm === 0 ? 0 : counted)
  );
}

/** Packs one or more records of a device into a block: as columns, or as they are where columns would not give them back byte for byte. */
export function packBlock(records: Uint8Array, device: DeviceKey): Uint8Array<ArrayBuffer> {
  const body = new ByteSink(64 * 1024);
  const row = { device, ...putBody(body, records) };
  const data = blockOf(ofColumns, body.written, row);
  return comesBack({ ...row, data }, records) ? data : blockOf(ofRecords, records, row);
}

function comesBack(block: StoredBlock, records: Uint8Array): boolean {
  try {
    return unpackBlock(block, records.byteLength).equals(records);
  } catch (error) {
    // Extras that are no JSON, such as a bare control character, may be read as other columns than were written.
    if (recordsDamage(error) !== undefined) return false;
    throw error;
  }
}

function blockOf(magic: number, body: Uint8Array, { device, count, first, last }: Omit<StoredBlock, "data">) {
  const packed = zstdCompressSync(body);
  const block = new ByteSink(headerLength + packed.byteLength);
  block.uint32(magic);
  block.uint32(0);
  block.uint32(count);
  block.uint32(body.byteLength);
  block.float64(first);
  block.float64(last);
  block.append(packed);
  block.view.setUint32(4, checksumFor(device, block.written), true);
  return block.cut();
}

function putBody(sink: ByteSink, bytes: Uint8Array) {
  const cursor = new RecordCursor(bytes);
  const marks: number[] = [];
  const times: number[] = [];
  const delays: number[] = [];
  const latitudes: number[] = [];
  const longitudes: number[] = [];
  const speeds: number[] = [];
  const courses: number[] = [];
  const positionTimes: number[] = [];
  const counts: number[] = [];
  const arrivals: number[] = [];
  const hashes: number[] = [];
  const totals = new ByteSink(1024);
  const alerts = new TextColumn();
  const extras = new ExtrasColumns();
  const increments = new Increments();
  for (let at = 0; at < bytes.byteLength; at = cursor.end) {
    cursor.read(at);
    const record = cursor.record();
    const increment = increments.next(record);
    const mark = marksOf(record) | (increment === undefined ? ownTotals : marksOfIncrement(increment));
    marks.push(mark);
    times.push(record.time);
    delays.push(record.receivedAt - record.time);
    if (!(mark & unlocated)) {
      latitudes.push(record.latitude);
      longitudes.push(record.longitude);
    }
    if (record.speed !== undefined) speeds.push(record.speed);
    if (record.course !== undefined) courses.push(record.course);
    if (mark & hasPositionTime) positionTimes.push(record.positionTime ?? 0);
    if (increment !== undefined && mark & counted) counts.push(increment.countedMm);
    if (mark & numbered) arrivals.push(record.arrival - firstArrival);
    if (mark & ownHash) hashes.push(record.hash);
    if (mark & ownTotals) writeTotals(totals, record.totals);
    if (record.alerts !== undefined) alerts.add(record.alerts);
    const text = Buffer.from(record.extras);
    extras.add(text, 0, text.length);
  }
  const ofMotion = [latitudes, longitudes, speeds, courses, positionTimes];
  for (const column of [marks, times, delays, ...ofMotion, counts, arrivals, hashes]) putNumbers(sink, column);
  putSized(sink, totals.written);
  alerts.put(sink);
  extras.put(sink);
  return { count: marks.length, first: times[0] ?? 0, last: times.at(-1) ?? 0 };
}

/** Unpacks a block's records, byte for byte as they were packed. `bytes`: about how many bytes they have. Throws `BlockDamaged`. */
export function unpackBlock(block: StoredBlock, bytes: number): Buffer {
  return unpackBody(decompressBlock(block), bytes);
}

/** The decompressed body of a block. */
export interface BlockBody {
  readonly count: number;
  /** Whether the body is columns. Otherwise it is records as they are. */
  readonly columns: boolean;
  readonly bytes: Uint8Array;
}

/** Decompresses a block's body. Throws `BlockDamaged`. */
export function decompressBlock(block: StoredBlock): BlockBody {
  const { columns, bodyLength } = blockHeader(block);
  return { count: block.count, columns, bytes: bodyOf(block.data, bodyLength) };
}

/** The most bytes that are reserved at once for a block's records. Few blocks have more, and a damaged row may name any number, even one below zero. */
const mostRoom = 1024 * 1024;

/** Unpacks the records of a body. `bytes`: about how many bytes they have. Throws `BlockDamaged`. */
export function unpackBody(body: BlockBody, bytes: number): Buffer {
  const sink = new ByteSink(Math.max(0, Math.min(bytes, mostRoom)));
  const cursor = openBody(body);
  if (cursor instanceof RecordCursor) sink.append(cursor.bytes);
  else while (cursor.next()) cursor.write(sink);
  return sink.written;
}

/** Walks over a body's records. Throws `BlockDamaged`. */
export function openBody({ count, columns, bytes }: BlockBody): BlockCursor | RecordCursor {
  return columns ? new BlockCursor(count, bytes) : new RecordCursor(bytes);
}
