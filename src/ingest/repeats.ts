import type { DeviceKey } from "../model/device.ts";
import type { FreshRecord } from "../ports/follow.ts";
import { RecentMap } from "../shares/recent-map.ts";

/** Records of a device that are remembered: what a tracker sends again is mostly what it sent last. */
const mostRecords = 16;
/** Devices of which that is remembered; some 300 bytes each. */
const mostDevices = 100_000;

/** A device's last records: event time and key, the oldest overwritten first. */
interface Ring {
  readonly places: Float64Array;
  next: number;
}

/**
 * Knows what was appended just now, so that what trackers send again at once is not appended again. All other repeats
 * are dropped where they are read.
 */
export class Repeats {
  readonly #rings = new RecentMap<DeviceKey, Ring>(mostDevices);

  /** Records that were not appended just now. The same array: none was. */
  without(device: DeviceKey, records: FreshRecord[]): FreshRecord[] {
    const ring = this.#rings.get(device);
    if (ring === undefined || !records.some((record) => has(ring, record))) return records;
    return records.filter((record) => !has(ring, record));
  }

  /** These are on disk. */
  appended(device: DeviceKey, records: readonly FreshRecord[]): void {
    let ring = this.#rings.get(device);
    if (ring === undefined) {
      ring = { places: new Float64Array(2 * mostRecords).fill(Number.NaN), next: 0 };
      this.#rings.set(device, ring);
    }
    for (const { time, key } of records.slice(-mostRecords)) {
      ring.places[2 * ring.next] = time;
      ring.places[2 * ring.next + 1] = key;
      ring.next = (ring.next + 1) % mostRecords;
    }
  }
}

function has({ places }: Ring, { time, key }: FreshRecord): boolean {
  for (let at = 0; at < places.length; at += 2) if (places[at] === time && places[at + 1] === key) return true;
  return false;
}
