import type { Generated } from "kysely";

/** A block of sealed records of a device. Row numbers are those of the tail: a record is in one of the two. */
export interface BlockTable {
  seq: number;
  device: number;
  /** Event times of its first and its last record. */
  first: number;
  last: number;
  count: number;
  /** Of its records, before they were packed. */
  bytes: number;
  /** Row number up to which shifts and patches of the device are in the block's records, or in the sums beside. */
  as_of: number;
  /** What late records before the block add to the totals of each of its records. */
  odometer_mm: Generated<number>;
  sensor1_ms: Generated<number>;
  sensor2_ms: Generated<number>;
  sensor3_ms: Generated<number>;
  sensor4_ms: Generated<number>;
}

/** The bytes of a block, as `blocks/block.ts` packs them. */
export interface BlockDataTable {
  seq: number;
  data: Uint8Array;
}

/** New totals that late records give to sealed records of their device, until they are folded in: see `records/rewrite.ts`. */
export interface PatchTable {
  key: Generated<number>;
  device: number;
  /** Row number that the tail had reached: totals are as of then. */
  seq: number;
  /** Event times of the records concerned. */
  first: number;
  last: number;
  count: number;
  data: Uint8Array;
}
