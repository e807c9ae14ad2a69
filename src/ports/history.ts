import type { DeviceKey } from "../model/device.ts";
import type { LocationRecord } from "../model/location.ts";
import type { JsonPiece, PositionPlace } from "./positions.ts";

/** Event-time range, both ends inclusive, epoch ms. */
export interface HistoryRange {
  readonly from: number;
  readonly to: number;
  /** Place after which to go on; absent: from the start. */
  readonly after?: PositionPlace;
  /** The most records to return. */
  readonly limit: number;
  /** The device's account: those who read at the same time take turns by account. */
  readonly account: number;
  /** The device's odometer start, km: added to every `milleage`. */
  readonly odometerStart: number;
  /** What each record reported, of those without a position too; otherwise those with one as locations. */
  readonly readings?: boolean;
}

/** Some of a history's records, in order, as the JSON objects of the API's Location or Reading, joined by commas. */
export type HistoryChunk = JsonPiece;

/**
 * Histories: what trackers said, with the totals and alerts that follow from it. A part that is damaged rejects with
 * `StoreUnavailable` and trouble `damaged`.
 */
export interface Histories {
  /**
   * Reads in chunks of bounded size, so that a long history costs no memory. Records appended meanwhile may or may not
   * appear.
   */
  history(device: DeviceKey, range: HistoryRange): AsyncIterable<HistoryChunk>;
  /** The same for programs: some records at a time, with their totals. */
  records(
    device: DeviceKey,
    range: { readonly from: number; readonly to: number },
  ): AsyncIterable<readonly LocationRecord[]>;
  /** The last record at or before a moment. */
  lastBefore(device: DeviceKey, time: number): Promise<LocationRecord | undefined>;
}
