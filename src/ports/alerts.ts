import type { DeviceKey } from "../model/device.ts";
import type { HistoryChunk, RecordKey } from "./store.ts";

/** What is asked of a device's alerts: times are epoch ms, both ends inclusive. */
export interface AlertRange {
  readonly from: number;
  readonly to: number;
  /** Content key after which to go on; absent: from the start. */
  readonly after?: RecordKey;
  /** At most so many. */
  readonly limit: number;
  /** Only those of the alert of this name. */
  readonly name?: string;
}

/** Alerts that devices raised. */
export interface AlertHistory {
  /** By time, as the JSON objects of the API's Alert; in chunks of bounded size, as `LocationStore.history`. */
  alerts(device: DeviceKey, range: AlertRange): AsyncIterable<HistoryChunk>;
}
