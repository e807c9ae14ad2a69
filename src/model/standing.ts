import type { Totals } from "./location.ts";

/** How a device stands, as far as it was followed. */
export interface Standing {
  /** Event time of its newest record; 0: there is none. */
  readonly time: number;
  /** As of that record: sums over all of its history. */
  readonly totals: Totals;
  /** When its newest record arrived. */
  readonly receivedAt?: number;
  /** See `DeviceHead.rules`. */
  readonly rules?: string;
}
