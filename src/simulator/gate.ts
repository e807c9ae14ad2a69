/** Milliseconds between two turns of the gate. */
const turn = 20;

/**
 * Lets connections be opened at a bounded pace, first come first served: neither a start nor a restart of the service
 * is met by the whole fleet at once.
 */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  readonly #perTurn: number;
  #credit = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param perSecond connections opened in a second */
  constructor(perSecond: number) {
    this.#perTurn = (Math.max(1, perSecond) * turn) / 1000;
  }

  /** Calls `open` when it is its turn. */
  enter(open: () => void): void {
    this.#waiting.push(open);
    this.#timer ??= setInterval(() => this.#let(), turn);
  }

  /** Nobody is let in any more. */
  close(): void {
    this.#waiting.length = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #let(): void {
    this.#credit = Math.min(this.#credit + this.#perTurn, this.#perTurn + 1);
    const count = Math.floor(this.#credit);
    this.#credit -= count;
    for (const open of this.#waiting.splice(0, count)) open();
    if (this.#waiting.length === 0) this.close();
  }
}
