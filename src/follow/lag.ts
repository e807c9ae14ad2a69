import type { FollowedDevice } from "./followed-device.ts";

/** Bytes of what waits to be followed. */
export class Lag {
  readonly #most: number;
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

  /** How much of what may wait does: 1 is all of it. */
  get fullness(): number {
    return this.#total / this.#most;
  }

  onRoom(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** More or less of a device waits. */
  weigh(device: FollowedDevice): void {
    const bytes = device.left ? 0 : device.waitingBytes + device.behindBytes;
    this.#total += bytes - device.lagBytes;
    device.lagBytes = bytes;
    if (this.isFull) this.#wasFull = true;
    else if (this.#wasFull) {
      this.#wasFull = false;
      for (const listener of this.#listeners) listener();
    }
  }
}
