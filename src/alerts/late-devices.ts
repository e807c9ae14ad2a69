import type { DeviceKey } from "../model/device.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";

/** A review begins after this time without a late record, ms, so that one review sees a whole backlog. */
const quietMs = 500;
/** The longest time that a review waits for more late records, ms. */
const longestMs = 30_000;
/** Time until a device is named again whose review led to nothing, ms: at first, and at most. It doubles each time. */
const againMs = 30_000;
const longestAgainMs = 600_000;

interface Waiting {
  readonly device: WatchedDevice;
  /** See `markIn`. */
  mark: string;
  readonly first: number;
  last: number;
  /** When the device was last named; undefined: not since late records came. */
  toldAt: number | undefined;
  /** The earliest time to name the device again. */
  again: number;
}

function isDue({ first, last, toldAt, again }: Waiting, now: number): boolean {
  return toldAt === undefined ? now - last >= quietMs || now - first >= longestMs : now >= again;
}

/** Devices whose late records wait for a review. Times are those of the clock that never goes back. */
export class LateDevices {
  readonly #waiting = new Map<DeviceKey, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** The device has late records that no review has seen. Its other reports change nothing here. */
  add(device: WatchedDevice, mark: string, now: number): void {
    const known = this.#waiting.get(device.key);
    if (known?.mark === mark) return;
    if (known === undefined || known.toldAt !== undefined)
      this.#waiting.set(device.key, { device, mark, first: now, last: now, toldAt: undefined, again: now });
    else {
      known.mark = mark;
      known.last = now;
    }
  }

  /** It has none any more. */
  delete(device: DeviceKey): void {
    this.#waiting.delete(device);
  }

  /** Those whose review may begin. */
  take(now: number): readonly WatchedDevice[] {
    const found: WatchedDevice[] = [];
    for (const one of this.#waiting.values()) {
      if (!isDue(one, now)) continue;
      const rest = one.toldAt === undefined ? againMs : Math.min((one.again - one.toldAt) * 2, longestAgainMs);
      one.toldAt = now;
      one.again = now + rest;
      found.push(one.device);
    }
    return found;
  }
}
