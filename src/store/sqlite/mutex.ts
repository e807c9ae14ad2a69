/**
 * Lets one at a time use the writer: a commit never lands inside another's open transaction. In the order of asking, but those that are urgent go before all that
 * are not: trackers wait for their fixes' commit, and many notices that are sent at once would each take a turn before it.
 */
export class Mutex {
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Resolves when it is one's turn; the result ends the turn. Nobody asks urgently again and again without doing something else between. */
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

  /** The turn is handed over without being free between. */
  #next(): void {
    const next = this.#urgent.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}
