import { StoreUnavailable } from "../../ports/store.ts";

/** Limits how many callers use a connection at once. The others wait in order, each for a limited time. */
export class Places {
  readonly #waitMs: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(places: number, waitMs: number) {
    this.#free = places;
    this.#waitMs = waitMs;
  }

  /** Resolves when the caller has a place. */
  take(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const given = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(given);
        reject(new StoreUnavailable(`store unavailable: no connection was free for ${this.#waitMs} ms`));
      }, this.#waitMs);
      this.#waiting.add(given);
    });
  }

  /** Gives the caller's place to the one who has waited longest. */
  free(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
