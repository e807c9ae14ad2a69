import { ContentHash, type Located } from "./content-hash.ts";

/** What a tracker said of one moment. Nothing of it is derived, so it never changes. */
export interface SaidRecord {
  /** Event time, epoch ms, whole. */
  readonly time: number;
  /** When it came, epoch ms, whole. */
  readonly receivedAt: number;
  /** The key of what was said, from `keyOf`: of one device, equal time and key is a repeat. */
  readonly key: number;
  /** The tracker itself says whether its position is valid. */
  readonly valid: boolean;
  /** It came without a position: latitude and longitude are 0 and mean nothing. */
  readonly unlocated?: true;
  readonly latitude: number;
  readonly longitude: number;
  /** km/h */
  readonly speed?: number | undefined;
  /** Degrees. */
  readonly course?: number | undefined;
  /** Readings and attributes as JSON members, `attributes` last and left open: see `extrasOf`. */
  readonly extras: string;
}

/** One for all: it holds nothing between two records. */
const contentHash = new ContentHash();

/**
 * The key of what a record says beside its time. Whether it came live or from the tracker's memory is no part of it.
 */
export function keyOf(record: Omit<SaidRecord, "key">): number {
  const bytes = Buffer.from(record.extras);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return contentHash.of(locatedOf(record), { bytes, view }, 0, bytes.byteLength);
}

/** What of a record its key is made of beside the extras. */
export function locatedOf(record: Omit<SaidRecord, "key">): Located | undefined {
  const { unlocated, valid, latitude, longitude, speed, course } = record;
  return unlocated ? undefined : { valid, latitude, longitude, speed, course };
}
