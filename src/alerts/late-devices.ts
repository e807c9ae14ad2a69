import type { DeviceKey } from "../model/device.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";

/** A review waits until no late record came for so long, ms: one review sees a whole backlog. */
const quietMs = 500;
/** It waits no longer than so long for that, ms. */
const longestMs = 30_000;
/** A device of which nothing became of its review is told again after so long, ms. */
const againMs = 30_000;

interface Waiting {
  readonly device: WatchedDevice;
  readonly first: number;
  last: number;
  /** When it was told; undefined: not since late records came. */
  toldAt: number | undefined;
}

/** Devices whose late records wait for a review. Times are those of the clock that never goes back. */
export class LateDevices {
  readonly #waiting = new Map<DeviceKey, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** The device has late records that no review has seen. */
  add(device: WatchedDevice, now: number): void {
    const known = this.#waiting.get(device.key);
    if (known === undefined || known.toldAt !== undefined)
      this.#waiting.set(device.key, { device, first: now, last: now, toldAt: undefined });
    else known.last = now;
  }

  /** It has none any more. */
  delete(device: DeviceKey): void {
    this.#waiting.delete(device);
  }

  /** Those whose review may begin. */
  take(now: number): readonly WatchedDevice[] {
    const found: WatchedDevice[] = [];
    for (const one of this.#waiting.values()) {
      if (
        one.toldAt !== undefined ? now - one.toldAt < againMs : now - one.last < quietMs && now - one.first < longestMs
      )
        continue;
      one.toldAt = now;
      found.push(one.device);
    }
    return found;
  }
}
