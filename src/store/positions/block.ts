import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { DeviceKey } from "../../model/device.ts";
import { BlockRecords, hasCourse, hasSpeed, unlocated, valid } from "./block-records.ts";
import { BlockDamaged } from "./columns/bytes.ts";
import { ExtrasColumns } from "./columns/extras.ts";
import { putNumbers } from "./columns/numbers.ts";
import { isOutOfMemory } from "./damage.ts";
import { PackedCursor } from "./packed-record.ts";
import type { RecordWalk } from "./record-view.ts";
import { ByteSink } from "./sink.ts";
import { SortedRecords } from "./sorted-records.ts";

/*
 * A block: records of one device in their order, column by column. Little endian.
 *    0 u32 "WBC1"   4 u32 CRC-32 of the device's key and of everything else   8 u32 records
 *   12 u32 bytes of the body before zstd   16 f64 time of the first record   24 f64 time of the last
 *   32 the body under zstd
 * The body is a row of columns: marks (what each record has), times, delays (from the time until the record was
 * received), then of the records that have one latitudes, longitudes, speeds and courses, then extras. With "WBP1"
 * instead, the body is the records as the log has them: columns would not give them back byte for byte.
 */
const ofColumns = 0x31434257;
const ofRecords = 0x31504257;
const headerLength = 32;
/** No body is longer, bytes. A header that says more is damaged. */
const mostBody = 256 * 1024 * 1024;
/**
 * No block has more records. Each takes some 60 bytes of columns in memory, even where the body has no bytes for it.
 */
const mostRecords = 65_536;

/** One for all: it holds nothing between two blocks. A larger one is given back. */
const mostKept = 1024 * 1024;
const body = new ByteSink(64 * 1024);

/** A block and what its row says of it. */
export interface Block {
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly data: Uint8Array;
}

/**
 * Packs records of a device, one at least, that stand in their order as the log has them: as columns, or as they are
 * where columns would not give them back.
 */
export function packBlock(records: Uint8Array, device: DeviceKey): Block {
  body.shrink(mostKept);
  body.length = 0;
  const { comesBack, ...span } = putBody(body, records);
  const data = comesBack ? blockOf(ofColumns, body.written, device, span) : blockOf(ofRecords, records, device, span);
  return { ...span, data };
}

function blockOf(magic: number, body: Uint8Array, device: DeviceKey, span: Omit<Block, "data">): Uint8Array {
  const packed = zstdCompressSync(body);
  const block = new ByteSink(headerLength + packed.byteLength);
  block.uint32(magic);
  block.uint32(0);
  block.uint32(span.count);
  block.uint32(body.byteLength);
  block.float64(span.first);
  block.float64(span.last);
  block.append(packed);
  block.view.setUint32(4, checksumOf(device, block.written), true);
  return block.cut();
}

/** The key is part of it, so that a block in the place of another device's counts as damaged. */
function checksumOf(device: DeviceKey, block: Uint8Array): number {
  return crc32(block.subarray(8), crc32(block.subarray(0, 4), device >>> 0));
}

function putBody(sink: ByteSink, bytes: Uint8Array) {
  const cursor = new PackedCursor(bytes);
  const marks: number[] = [];
  const times: number[] = [];
  const delays: number[] = [];
  const latitudes: number[] = [];
  const longitudes: number[] = [];
  const speeds: number[] = [];
  const courses: number[] = [];
  const extras = new ExtrasColumns();
  let areExact = true;
  for (let at = 0; at < bytes.byteLength; at = cursor.end) {
    cursor.read(at);
    const { speed, course } = cursor;
    const has = (speed === undefined ? 0 : hasSpeed) | (course === undefined ? 0 : hasCourse);
    marks.push((cursor.valid ? valid : 0) | (cursor.unlocated ? unlocated : 0) | has);
    times.push(cursor.time);
    const delay = cursor.receivedAt - cursor.time;
    delays.push(delay);
    if (cursor.time + delay !== cursor.receivedAt) areExact = false;
    if (!cursor.unlocated) {
      latitudes.push(cursor.latitude);
      longitudes.push(cursor.longitude);
    }
    if (speed !== undefined) speeds.push(speed);
    if (course !== undefined) courses.push(course);
    cursor.addExtras(extras);
  }
  for (const column of [marks, times, delays, latitudes, longitudes, speeds, courses]) putNumbers(sink, column);
  extras.put(sink);
  const comesBack = areExact && extras.comesBack;
  return { count: marks.length, first: times[0] ?? 0, last: times.at(-1) ?? 0, comesBack };
}

/** Walks over a block's records. Throws `BlockDamaged`, also while walking. */
export function openBlock({ first, last, count, data }: Block, device: DeviceKey): RecordWalk {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const magic = data.byteLength < headerLength ? 0 : view.getUint32(0, true);
  if (magic !== ofColumns && magic !== ofRecords)
    throw new BlockDamaged("these bytes are no block, or one of a newer version");
  if (view.getUint32(4, true) !== checksumOf(device, data)) throw new BlockDamaged("its checksum is wrong");
  if (view.getUint32(8, true) !== count || view.getFloat64(16, true) !== first || view.getFloat64(24, true) !== last)
    throw new BlockDamaged("it is not what its row says");
  const length = view.getUint32(12, true);
  if (length > mostBody || count > mostRecords) throw new BlockDamaged("its header can't be right");
  const bytes = bodyOf(data, length);
  return magic === ofColumns ? new BlockRecords(count, bytes) : new SortedRecords(bytes);
}

function bodyOf(block: Uint8Array, length: number): Buffer {
  try {
    return zstdDecompressSync(block.subarray(headerLength), { maxOutputLength: Math.max(1, length) });
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    throw new BlockDamaged("it can't be decompressed", { cause: error });
  }
}
