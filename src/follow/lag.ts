import type { FollowedDevice } from "./followed-device.ts";

/** Bytes of what waits to be followed, by device. */
export class Lag {
  readonly #most: number;
  readonly #bytes = new Map<FollowedDevice, number>();
  readonly #listeners: (() => void)[] = [];
  #total = 0;
  #wasFull = false;

  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#total;
  }

  get isFull(): boolean {
    return this.#total > this.#most;
  }

  onRoom(listener: () => void): void {
    this.#listeners.push(listener);
  }

  of(device: FollowedDevice): number {
    return this.#bytes.get(device) ?? 0;
  }

  set(device: FollowedDevice, bytes: number): void {
    this.#total += bytes - this.of(device);
    if (bytes === 0) this.#bytes.delete(device);
    else this.#bytes.set(device, bytes);
    if (this.isFull) this.#wasFull = true;
    else if (this.#wasFull) {
      this.#wasFull = false;
      for (const listener of this.#listeners) listener();
    }
  }
}
