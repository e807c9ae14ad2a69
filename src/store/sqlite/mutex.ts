/** Lets one at a time use the writer, in the order of asking: a commit never lands inside another's open transaction. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is one's turn; the result ends the turn. */
  async acquire(): Promise<() => void> {
    const previous = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await previous;
    return resolve;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }
}
