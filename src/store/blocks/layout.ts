import { crc32, zstdDecompressSync } from "node:zlib";
import type { DeviceKey } from "../../model/device.ts";
import { isOutOfMemory } from "../records/damage.ts";
import { BlockDamaged } from "./bytes.ts";

/*
 * A block: records of one device in their order, column by column. Little endian.
 *    0 u32 "WBB1"   4 u32 CRC-32 of the device's key and of everything else   8 u32 records   12 u32 bytes of the body before zstd
 *   16 f64 time of the first record   24 f64 time of the last   32 the body under zstd
 * The body is a row of columns. Behind `delays`, a column has values only of the records that have one:
 *   marks (what each record has), times, delays (from the time until the record was received),
 *   latitudes, longitudes, speeds, courses, position times,
 *   millimetres that the increment adds to the odometer, arrival numbers,
 *   content keys that hashing the content does not give, totals that the increment does not give,
 *   alert members, extras.
 * So of most records a block keeps what the tracker said and the increment, and no running sums.
 * With "WBR1" instead, the body is the records as the tail has them. It is for records that columns would not give back byte for byte, such as some of earlier versions.
 */
export const ofColumns = 0x31424257;
export const ofRecords = 0x31524257;
export const headerLength = 32;
/** No body is longer, bytes: a thousand records of 32 KB take half of it. A header that says more is damaged. */
const mostBody = 64 * 1024 * 1024;
/** No block has more records. Each takes some 80 bytes of columns in memory, even where the body has no bytes for it. */
const mostRecords = 65_536;

/** What a record has. */
export const valid = 1;
export const hasSpeed = 2;
export const hasCourse = 4;
export const hasPositionTime = 8;
export const unlocated = 16;
export const hasAlerts = 32;
/** The block holds its totals, because its increment does not give them. The first record always has this mark. */
export const ownTotals = 64;
/** The block holds its content key, which is not the hash of the content: an earlier version of the program made it. */
export const ownHash = 128;
/** It has an arrival number. Otherwise its content key is used in place of one. */
export const numbered = 256;
/** Its increment, where it has no totals of its own: see `Increment`. */
export const moved = 512;
export const underway = 1024;
export const uncounted = 2048;
/** Its increment adds to the odometer. */
export const counted = 4096;
export const aside = 8192;
export const doubt = 16_384;

/** A block, and what its row says of it. */
export interface StoredBlock {
  readonly device: DeviceKey;
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly data: Uint8Array;
}

/** What a reader needs of a block's header. */
export interface BlockHeader {
  /** Whether the body is columns. Otherwise it is records as they are. */
  readonly columns: boolean;
  readonly bodyLength: number;
}

/** The checksum of a device's block: of the device's key, and of all bytes but the checksum itself. So a block in the place of another device's block counts as damaged. */
export function checksumFor(device: DeviceKey, block: Uint8Array): number {
  return crc32(block.subarray(8), crc32(block.subarray(0, 4), device >>> 0));
}

/** Reads a block's header. Throws `BlockDamaged` where the checksum is wrong, or where the header does not agree with the block's row. */
export function blockHeader({ device, first, last, count, data: block }: StoredBlock): BlockHeader {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const magic = block.byteLength < headerLength ? 0 : view.getUint32(0, true);
  if (magic !== ofColumns && magic !== ofRecords)
    throw new BlockDamaged("these bytes are no block, or one of a newer version");
  if (view.getUint32(4, true) !== checksumFor(device, block)) throw new BlockDamaged("a block's checksum is wrong");
  if (view.getUint32(8, true) !== count || view.getFloat64(16, true) !== first || view.getFloat64(24, true) !== last)
    throw new BlockDamaged("a block is not what its row says");
  const bodyLength = view.getUint32(12, true);
  if (bodyLength > mostBody || count > mostRecords) throw new BlockDamaged("a block's header can't be right");
  return { columns: magic === ofColumns, bodyLength };
}

/** Event times of a block's first and last record, and its count. Undefined if its checksum is wrong, or is that of another device. */
export function spanOfBlock(device: DeviceKey, block: Uint8Array): readonly [number, number, number] | undefined {
  if (block.byteLength < headerLength || checksumOf(block) !== checksumFor(device, block)) return undefined;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  return [view.getFloat64(16, true), view.getFloat64(24, true), view.getUint32(8, true)];
}

/** The checksum in a block's header. It is not verified. */
export function checksumOf(block: Uint8Array): number {
  return block.byteLength < headerLength
    ? 0
    : new DataView(block.buffer, block.byteOffset, block.byteLength).getUint32(4, true);
}

/** The decompressed body of a block. Throws `BlockDamaged`. */
export function bodyOf(block: Uint8Array, bodyLength: number): Buffer {
  try {
    return zstdDecompressSync(block.subarray(headerLength), { maxOutputLength: Math.max(1, bodyLength) });
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    throw new BlockDamaged("a block can't be decompressed", { cause: error });
  }
}
