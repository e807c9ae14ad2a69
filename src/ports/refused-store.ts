import type { RefusedReport } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";

/** Some of a device's refused reports, newest first. */
export interface RefusedPage {
  readonly reports: readonly RefusedReport[];
  /** The key to go on after; undefined: those were all. */
  readonly next: number | undefined;
  /** Reports that were deleted before their age, since the device had too many bytes of them, and when the newest of them had arrived. */
  readonly dropped: { readonly reports: number; readonly until: number } | undefined;
}

/** Reports that are kept as evidence; a commit writes them. */
export interface RefusedStore {
  /** Returns at most `limit`, after the one with that key if it is given. */
  page(device: DeviceKey, limit: number, after?: number): Promise<RefusedPage>;
  /** One bounded step: deletes up to `limit` reports that arrived before a moment. How many it deleted. */
  prune(before: number, limit: number): Promise<number>;
}
