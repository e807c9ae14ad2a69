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

  /** Whether this turn of the event loop has used its time. Ask right before each step: during an `await` in between, other steps use the time, too. */
  get isOver(): boolean {
    return this.#clock.monotonic() - this.#began > this.#mostMs;
  }

  /** Resolves in the next turn of the event loop. All callers share one promise. */
  nextTurn(): Promise<void> {
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
