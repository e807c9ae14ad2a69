/** Work in the background, one thing at a time: goes on while there is something to do, pauses, and ends early when it is closed. */
export class Background {
  readonly #work: () => Promise<void>;
  #working: Promise<void> | undefined;
  /** Asked to start since the work last began: what was added as it ended is not left. */
  #asked = false;
  #closed = false;
  #wake: (() => void) | undefined;

  /** `work` does what there is to do, looks at `closed` in between, and does not throw. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** There is something to do. */
  start(): void {
    this.#asked = true;
    this.#working ??= this.#run();
  }

  /** Waits so many ms, or until it is closed. */
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

  /** Ends once the work has seen it. */
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
