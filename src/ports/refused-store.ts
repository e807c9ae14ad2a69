import type { DeviceKey } from "../model/device.ts";
import type { RefusedReport } from "../model/refused.ts";

/** Some of a device's refused reports, newest first. */
export interface RefusedPage {
  readonly reports: readonly RefusedReport[];
  /** The key to go on after; undefined: those were all. */
  readonly next: number | undefined;
  /**
   * Reports that were deleted before their age, since the device had too many bytes of them, and when the newest of
   * them had arrived.
   */
  readonly dropped: { readonly reports: number; readonly until: number } | undefined;
}

/** Reports that are kept as evidence. */
export interface RefusedStore {
  /**
   * One durable transaction. Reports of devices that are gone are left out; of a device that has too many bytes, the
   * oldest go. How many went.
   */
  add(reports: readonly RefusedReport[]): Promise<number>;
  /** Returns at most `limit`, after the one with that key if it is given. */
  page(device: DeviceKey, limit: number, after?: number): Promise<RefusedPage>;
  /** One bounded step: deletes up to `limit` reports that arrived before a moment. How many it deleted. */
  prune(before: number, limit: number): Promise<number>;
}
