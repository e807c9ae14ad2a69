/** Bounds how much is under way at a time; what comes above that waits its turn, in order. */
export class Slots {
  readonly #mayWait: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** `slots` under way at a time; at most `mayWait` wait. */
  constructor(slots: number, mayWait: number) {
    this.#free = slots;
    this.#mayWait = mayWait;
  }

  /**
   * True: a slot is the caller's until it gives it back. False: too many wait, or none came free within `waitMs`, or
   * before the signal.
   */
  take(waitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    if (this.#waiting.size >= this.#mayWait) return Promise.resolve(false);
    return new Promise((resolve) => {
      const turn = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const leave = () => {
        clearTimeout(timer);
        this.#waiting.delete(turn);
        resolve(false);
      };
      const timer = setTimeout(leave, waitMs);
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(turn);
    });
  }

  /** Gives a slot back: the one who waits longest has it then. */
  give(): void {
    const [turn] = this.#waiting;
    if (turn === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(turn);
    turn();
  }
}
