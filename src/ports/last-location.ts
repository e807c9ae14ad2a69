import type { Device } from "../model/device.ts";

/** What a device reported last. */
export interface Latest {
  /** The Location as JSON text; undefined: it has never reported a position. */
  readonly json: string | undefined;
  /** Its position. */
  readonly position: { readonly latitude: number; readonly longitude: number } | undefined;
  /** When its newest report arrived, epoch ms; undefined: none has. */
  readonly receivedAt: number | undefined;
}

/** Reads the newest position of a device; ingest implements it over the states that it holds in memory. */
export interface LastLocations {
  /**
   * The Location as JSON text, as `model/location-json.ts` makes it. Undefined: the device has never reported a
   * position. Answers at once where the state is in memory; rejects with `StoreUnavailable` where it must be read and
   * can't.
   */
  lastLocation(device: Device): string | undefined | Promise<string | undefined>;
  /** The same with what else is known of it. */
  latest(device: Pick<Device, "key" | "odometerStart">): Latest | Promise<Latest>;
}
