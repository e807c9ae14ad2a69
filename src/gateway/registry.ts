/** A conversation on which a device is reached. */
export interface Reachable {
  /** The device was changed, deleted or renewed: it must be admitted again before anything else of it is taken. */
  deviceChanged(): void;
}

/** Which conversation each device last spoke on, by the id that it is registered under. Commands will find their way by it. */
export class Registry {
  readonly #reachable = new Map<string, Reachable>();

  get size(): number {
    return this.#reachable.size;
  }

  find(device: string): Reachable | undefined {
    return this.#reachable.get(device);
  }

  set(device: string, by: Reachable): void {
    this.#reachable.set(device, by);
  }

  /** Forgets the device's conversation, unless it speaks in another one by now. */
  remove(device: string, by: Reachable): void {
    if (this.#reachable.get(device) === by) this.#reachable.delete(device);
  }
}
