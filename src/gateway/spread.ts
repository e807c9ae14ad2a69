/** How many are worked off in one turn of the event loop: some milliseconds. */
const atOnce = 64;

/**
 * Work that may come by the thousand in one turn of the event loop, as when a network goes down and all its connections end: a few are worked off at once, the
 * others in the turns after, between which everybody else is served.
 */
export class Spread<T> {
  readonly #work: (item: T) => void;
  #waiting: T[] = [];
  /** Where in `#waiting` it goes on. */
  #next = 0;
  /** Worked off in this turn. */
  #done = 0;
  #turning = false;

  constructor(work: (item: T) => void) {
    this.#work = work;
  }

  /** Works it off now, or in a later turn: in the order of the calls. */
  add(item: T): void {
    if (!this.#turning) {
      this.#turning = true;
      setImmediate(() => this.#turn());
    }
    if (this.#done < atOnce && this.#waiting.length === 0) {
      this.#done++;
      this.#work(item);
    } else this.#waiting.push(item);
  }

  #turn(): void {
    const end = Math.min(this.#next + atOnce, this.#waiting.length);
    this.#done = end - this.#next;
    this.#turning = this.#done > 0;
    // Before the work, which may fail.
    if (this.#turning) setImmediate(() => this.#turn());
    const items = this.#waiting.slice(this.#next, end);
    this.#next = end;
    if (end === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    for (const item of items) this.#work(item);
  }
}
