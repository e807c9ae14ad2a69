import type { Generated } from "kysely";

/** A block: sealed records of a device. Blocks and the tail share one sequence of row numbers. A record is in one of the two. */
export interface BlockTable {
  seq: number;
  device: number;
  /** Event times of its first and its last record. */
  first: number;
  last: number;
  count: number;
  /** Bytes of its records before packing. */
  bytes: number;
  /** Row number up to which shifts and patches of the device are in the block's records or in the sums below. */
  as_of: number;
  /** Lifts: what late records before the block add to the totals of each of its records. */
  odometer_mm: Generated<number>;
  sensor1_ms: Generated<number>;
  sensor2_ms: Generated<number>;
  sensor3_ms: Generated<number>;
  sensor4_ms: Generated<number>;
  /** Checksum: see `records/row-sum.ts`. */
  crc: number | null;
}

/** The bytes of a block, as `blocks/block.ts` packs them. */
export interface BlockDataTable {
  seq: number;
  data: Uint8Array;
}

/** New totals that late records give to sealed records of their device, until the sealer folds them in: see `records/patches.ts`. */
export interface PatchTable {
  key: Generated<number>;
  device: number;
  /** Row number of the commit that stored the totals, which are as of that commit. */
  seq: number;
  /** Event times of the records concerned. */
  first: number;
  last: number;
  count: number;
  data: Uint8Array;
  /** Checksum: see `records/row-sum.ts`. */
  crc: number | null;
}

/** Locations in the order of their commits: a row holds one device's records of one commit, packed. */
export interface TailTable {
  seq: number;
  device: number;
  first: number;
  last: number;
  count: number;
  data: Uint8Array;
  crc: number | null;
}

/** What late records of a device add to the totals of those after them, as far as it is not in the tail's rows: see `records/shifts.ts`. */
export interface ShiftsTable {
  device: number;
  /** Row number that the tail had reached at the last of them. */
  seq: number;
  /** Event time from which on records are concerned. */
  since: number;
  count: number;
  data: Uint8Array;
  crc: number | null;
}

/** Which rows of a device in the tail are in blocks by now: see `records/spent.ts`. */
export interface SpentTable {
  device: number;
  /** All rows up to this number, but those in `data`. */
  seq: number;
  data: Uint8Array;
  crc: number | null;
}
