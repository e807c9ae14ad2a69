import type { CommandStore } from "../ports/command-store.ts";

/**
 * Devices that are remembered: some megabyte, and far more than have commands waiting for them on a service that is in
 * order.
 */
const mostDevices = 10_000;

/**
 * Devices for whose connection commands may be waiting, so that the connecting of all others asks the store nothing. It
 * may name one too many, never one too few: as long as it is not known, or they are too many to remember, any device
 * may be one.
 */
export class WaitingDevices {
  readonly #commands: Pick<CommandStore, "waitingDevices">;
  readonly #most: number;
  #ids = new Set<string>();
  #known = false;
  /** What was added since the look that is under way began. */
  #added: Set<string> | undefined;

  constructor(commands: Pick<CommandStore, "waitingDevices">, most = mostDevices) {
    this.#commands = commands;
    this.#most = most;
  }

  /** Whether it is known for which devices none waits. */
  get known(): boolean {
    return this.#known;
  }

  get ids(): Iterable<string> {
    return this.#ids;
  }

  has(id: string): boolean {
    return !this.#known || this.#ids.has(id);
  }

  /** A command waits for the device. */
  add(id: string): void {
    this.#added?.add(id);
    if (!this.#known) return;
    this.#ids.add(id);
    if (this.#ids.size > this.#most) this.#forget();
  }

  /** None waits for the device any more. */
  delete(id: string): void {
    this.#added?.delete(id);
    this.#ids.delete(id);
  }

  /** Asks the store, at the start and after some ended in another way. One look at a time. */
  async look(): Promise<void> {
    if (this.#added !== undefined) return;
    const added = new Set<string>();
    this.#added = added;
    try {
      const found = await this.#commands.waitingDevices(this.#most + 1);
      this.#ids = new Set([...found, ...added]);
      this.#known = true;
      if (this.#ids.size > this.#most) this.#forget();
    } finally {
      this.#added = undefined;
    }
  }

  #forget(): void {
    this.#known = false;
    this.#ids.clear();
  }
}
