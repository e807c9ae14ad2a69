/**
 * Lets one caller at a time use the writer, so that a commit never lands inside another's open transaction. Callers have their turns in the order in which they ask, urgent
 * ones first: trackers wait for the commit of their fixes, and many notices that are sent at once would each take a turn before it.
 */
export class Mutex {
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /**
   * Resolves when the caller's turn comes. Call the result to end the turn. No caller may ask urgently again and again without other work in between: the others would wait for
   * ever.
   */
  async acquire(urgent = false): Promise<() => void> {
    if (this.#taken)
      await new Promise<void>((resolve) => {
        (urgent ? this.#urgent : this.#waiting).push(resolve);
      });
    this.#taken = true;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#next();
    };
  }

  async run<T>(work: () => Promise<T>, urgent = false): Promise<T> {
    const release = await this.acquire(urgent);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Hands the turn over to the next caller, or frees the writer. */
  #next(): void {
    const next = this.#urgent.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}
