/** Does a work again and again, one at a time. It must not reject. */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #hasEnded = false;

  constructor(work: () => Promise<void>, everyMs: number) {
    this.#work = work;
    this.#everyMs = everyMs;
  }

  /** Begins a round now, or as soon as the one that is under way has ended. */
  now(): void {
    if (this.#hasEnded) return;
    this.#isAsked = this.#running !== undefined;
    if (this.#isAsked) return;
    clearTimeout(this.#timer);
    this.#running = this.#work().finally(() => {
      this.#running = undefined;
      if (this.#isAsked) this.now();
      else if (!this.#hasEnded) this.#timer = setTimeout(() => this.now(), this.#everyMs);
    });
  }

  /** Resolves when the last round has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
