import type { Device } from "../model/device.ts";

/** Reads the newest position of a device; ingest implements it over the states that it holds in memory. */
export interface LastLocations {
  /**
   * The Location as JSON text, as `model/location-json.ts` makes it. Undefined: the device has never reported a position.
   * Answers at once where the state is in memory; rejects with `StoreUnavailable` where it must be read and can't.
   */
  lastLocation(device: Device): string | undefined | Promise<string | undefined>;
}
