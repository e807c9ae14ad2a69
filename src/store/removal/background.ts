/**
 * Work in the background, one thing at a time: goes on while there is something to do, pauses, and ends early when it
 * is closed.
 */
export class Background {
  readonly #work: () => Promise<void>;
  #working: Promise<void> | undefined;
  /** Whether `start` was called since the work last began, so that what was added while it ended is done too. */
  #asked = false;
  #closed = false;
  #wake: (() => void) | undefined;

  /** `work` does what there is to do, checks `closed` in between, and does not throw. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Starts the work, or lets it run once more. */
  start(): void {
    this.#asked = true;
    this.#working ??= this.#run();
  }

  /** Waits for `ms`, or until it is closed. */
  pause(ms: number): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Resolves when the work has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    await this.#working;
  }

  async #run(): Promise<void> {
    while (this.#asked && !this.#closed) {
      this.#asked = false;
      await this.#work();
    }
    this.#working = undefined;
  }
}
