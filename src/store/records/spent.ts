import type { DeviceKey } from "../../model/device.ts";

/*
 * Sealing leaves rows of the tail where they are at first: see decision 0028. The table `spent` says for each device which rows are spent, that is, which have all their records in
 * blocks: all up to a row number, but a few that stay.
 */

/** Which rows of a device in the tail are spent: all up to the number `seq`, but those in `stays`. */
export interface Spent {
  readonly seq: number;
  readonly stays: readonly number[];
}

/** The most rows that may stay below `seq`. With more of them, sealed rows are deleted at once. */
export const mostStays = 64;

/** The bytes of `Spent.stays` in the table: a double each, little endian. */
export function packStays(stays: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(stays.length * 8);
  const view = new DataView(bytes.buffer);
  stays.forEach((seq, index) => {
    view.setFloat64(index * 8, seq, true);
  });
  return bytes;
}

/** See `packStays`. */
export function unpackStays(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.byteLength / 8) }, (_, index) => view.getFloat64(index * 8, true));
}

/** The times of a block, and the row number up to which rows of the tail may be in it. */
export interface BlockSpan {
  readonly first: number;
  readonly last: number;
  readonly asOf: number;
}

/** Spent rows of all devices, as the table says. */
export interface SpentTable {
  readonly rows: readonly (Spent & { readonly device: DeviceKey })[];
  /** Devices whose entry is damaged, with their blocks. */
  readonly damaged: readonly { readonly device: DeviceKey; readonly blocks: readonly BlockSpan[] }[];
}

/** A row of the tail. */
export interface TailRow {
  readonly seq: number;
  readonly device: DeviceKey;
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
}

/** Tells which rows of the tail are spent. */
export class SpentRows {
  readonly #spent = new Map<DeviceKey, Spent>();
  readonly #damaged = new Map<DeviceKey, readonly BlockSpan[]>();

  constructor({ rows, damaged }: SpentTable) {
    for (const { device, seq, stays } of rows) this.#spent.set(device, { seq, stays });
    for (const { device, blocks } of damaged) this.#damaged.set(device, blocks);
  }

  /**
   * Whether a row is spent. If the device's entry is damaged, a row counts as spent where a block lies over it that was made later: then some late records may be hidden, but none is
   * shown twice.
   */
  has({ seq, device, first, last }: TailRow): boolean {
    const spent = this.#spent.get(device);
    if (spent !== undefined) return seq <= spent.seq && !spent.stays.includes(seq);
    const blocks = this.#damaged.get(device);
    return blocks?.some((block) => block.asOf >= seq && block.first <= last && block.last >= first) ?? false;
  }
}
