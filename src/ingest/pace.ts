import type { Clock } from "../ports/clock.ts";

/** Paces work of many steps: a few milliseconds in each turn of the event loop, so that sockets and timers are served in between. */
export class Pace {
  readonly #clock: Clock;
  readonly #mostMs: number;
  #began = Number.NEGATIVE_INFINITY;
  #next: Promise<void> | undefined;
  /** How long the work has waited for its turns, ms. */
  waitedMs = 0;

  /** `mostMs`: how long the steps of one turn may take together. */
  constructor(clock: Clock, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
  }

  /** The first step is about to be done. */
  begin(): void {
    this.#began = this.#clock.monotonic();
  }

  /** Resolves when there is time for a step: at once, or in a later turn. */
  async step(): Promise<void> {
    while (this.#clock.monotonic() - this.#began > this.#mostMs) await this.#nextTurn();
  }

  /** Resolves in the next turn, for all who wait for it. */
  #nextTurn(): Promise<void> {
    const from = this.#clock.monotonic();
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.begin();
        this.waitedMs += this.#began - from;
        resolve();
      });
    });
    return this.#next;
  }
}
