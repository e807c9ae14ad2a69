/**
 * Lets one caller at a time use the writer, so that a commit never lands inside another's open transaction. Callers
 * have their turns in the order in which they ask.
 */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the caller's turn comes. Call the result to end the turn. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
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
