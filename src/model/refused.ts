import type { DeviceKey } from "./device.ts";

/**
 * A report that is kept as evidence but is not stored as a location: its time can't be right (`future`, `past`), or its
 * position is not on earth (`position`).
 */
export interface RefusedReport {
  readonly device: DeviceKey;
  readonly receivedAt: number;
  readonly time: number;
  readonly cause: "future" | "past" | "position";
  /** The report as JSON. */
  readonly report: string;
}
