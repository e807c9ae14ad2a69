import { crc32, zstdDecompressSync } from "node:zlib";
import type { DeviceKey } from "../../model/device.ts";
import { BlockDamaged } from "./bytes.ts";

/*
 * A block: records of one device in their order, column by column. Little endian.
 *    0 u32 "WBB1"   4 u32 CRC-32 of everything else and of whose block it is   8 u32 records   12 u32 bytes of the body before zstd
 *   16 f64 time of the first record   24 f64 time of the last   32 the body under zstd
 * The body is a row of columns: marks, which say what each record has; times; how long after these they were received; of the records that have them latitudes, longitudes,
 * speeds, courses, position times; what increments add to the odometer; arrival numbers; content keys and totals, which stand there only where the content and the
 * increment do not give them; alert members; extras. So most records have what the tracker said and their increment, never a running sum.
 * "WBR1" instead: the body is the records as the tail has them. Records lie so that would not come back byte for byte from columns, as some of earlier versions.
 */
export const ofColumns = 0x31424257;
export const ofRecords = 0x31524257;
export const headerLength = 32;
/** A body is longer only where the header lies: records of 32 KB each, a thousand of them, and as much again. */
const mostBody = 64 * 1024 * 1024;
/** So are more records: each takes some 80 bytes of columns in memory, even where the body has none for it. */
const mostRecords = 65_536;

/** What a record has. */
export const valid = 1;
export const hasSpeed = 2;
export const hasCourse = 4;
export const hasPositionTime = 8;
export const unlocated = 16;
export const hasAlerts = 32;
/** Its totals stand in the block: they are not those of the record before with its increment. The first record's always do. */
export const ownTotals = 64;
/** The content key is not the hash of the content: an earlier version of the program made it. */
export const ownHash = 128;
/** It has a number by which it arrived; otherwise its hash stands for that. */
export const numbered = 256;
/** Its increment, where it has no totals of its own: see `Increment`. */
export const moved = 512;
export const underway = 1024;
export const uncounted = 2048;
/** Its increment adds to the odometer. */
export const counted = 4096;

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
  /** The body is columns; otherwise records. */
  readonly columns: boolean;
  readonly bodyLength: number;
}

/** The checksum of a block of a device: of all but the checksum itself, beginning with the device's key, so that a block in the place of another device's is found out. */
export function checksumFor(device: DeviceKey, block: Uint8Array): number {
  return crc32(block.subarray(8), crc32(block.subarray(0, 4), device >>> 0));
}

/** The header of a block whose bytes are as they were written, and those of its row. Throws `BlockDamaged` where they are not. */
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

/** The checksum that a block says it has, without a look at whether it is right. */
export function checksumOf(block: Uint8Array): number {
  return block.byteLength < headerLength
    ? 0
    : new DataView(block.buffer, block.byteOffset, block.byteLength).getUint32(4, true);
}

/** The body of a block, as it was before zstd. Throws `BlockDamaged`. */
export function bodyOf(block: Uint8Array, bodyLength: number): Buffer {
  try {
    return zstdDecompressSync(block.subarray(headerLength), { maxOutputLength: Math.max(1, bodyLength) });
  } catch (error) {
    throw new BlockDamaged("a block can't be decompressed", { cause: error });
  }
}
