import type { DeviceKey } from "../model/device.ts";
import { FollowedDevice } from "./followed-device.ts";

/** Devices in memory, mostly 2 to 4 KB each, and their bytes: with many rules a head has a hundred kilobytes. */
const mostDevices = 50_000;
const mostBytes = 128 * 1024 * 1024;
/** So many are looked at for what may go. */
const mostLooks = 64;

/** The devices in memory. Those that were not used for longest make room, unless something of them is to be done. */
export class Memory {
  readonly #devices = new Map<DeviceKey, FollowedDevice>();
  readonly #bytes = new Map<DeviceKey, number>();
  readonly #isBusy: (device: FollowedDevice) => boolean;
  readonly #capacity: number;
  #total = 0;

  /** `isBusy`: it must stay. */
  constructor(isBusy: (device: FollowedDevice) => boolean, capacity = mostDevices) {
    this.#isBusy = isBusy;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#devices.size;
  }

  all(): Iterable<FollowedDevice> {
    return this.#devices.values();
  }

  get(key: DeviceKey): FollowedDevice | undefined {
    return this.#devices.get(key);
  }

  /** The device, new where it is not there: its head is to be read. */
  of(key: DeviceKey): FollowedDevice {
    const known = this.#devices.get(key);
    if (known !== undefined) {
      // Deleting first moves it to the end of the map's order; only near the limit does that order matter.
      if (2 * this.#devices.size > this.#capacity || 2 * this.#total > mostBytes) {
        this.#devices.delete(key);
        this.#devices.set(key, known);
      }
      return known;
    }
    const made = new FollowedDevice(key);
    this.#devices.set(key, made);
    this.#makeRoom();
    return made;
  }

  /** A device is gone. */
  drop(device: FollowedDevice): void {
    const { key } = device;
    if (this.#devices.get(key) !== device) return;
    this.#devices.delete(key);
    this.#total -= this.#bytes.get(key) ?? 0;
    this.#bytes.delete(key);
  }

  /** A device has changed: it may be larger. */
  weigh(device: FollowedDevice): void {
    const { key, bytes } = device;
    if (this.#devices.get(key) !== device) return;
    this.#total += bytes - (this.#bytes.get(key) ?? 0);
    this.#bytes.set(key, bytes);
    this.#makeRoom();
  }

  #makeRoom(): void {
    let looks = 0;
    for (const device of this.#devices.values()) {
      if (this.#devices.size <= this.#capacity && this.#total <= mostBytes) return;
      if (++looks > mostLooks) return;
      if (this.#isBusy(device)) continue;
      this.drop(device);
    }
  }
}
