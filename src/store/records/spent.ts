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

/** What is spent of a device. */
export interface SpentOfDevice extends Spent {
  readonly device: DeviceKey;
}

/** Spent rows of all devices. */
export interface SpentTable {
  readonly rows: readonly SpentOfDevice[];
  /** Devices whose entry in the table is damaged. What is spent of them was found out by their blocks. */
  readonly damaged: readonly DeviceKey[];
}

/** Tells which rows of the tail are spent. */
export class SpentRows {
  readonly #spent = new Map<DeviceKey, { readonly seq: number; readonly stays: ReadonlySet<number> }>();

  constructor({ rows }: SpentTable) {
    for (const { device, seq, stays } of rows) this.#spent.set(device, { seq, stays: new Set(stays) });
  }

  /** Whether a row is spent. */
  has({ seq, device }: { readonly seq: number; readonly device: DeviceKey }): boolean {
    const spent = this.#spent.get(device);
    return spent !== undefined && seq <= spent.seq && !spent.stays.has(seq);
  }
}
