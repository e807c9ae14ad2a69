/**
 * Spreads work that comes by the thousand over many turns of the event loop, so that everybody else is served in
 * between. When a network goes down, for example, all its connections end in one turn.
 */
export class Spread<T> {
  readonly #atOnce: number;
  readonly #work: (item: T) => void;
  #waiting: readonly T[] = [];
  /** Index in `#waiting` of the next item. */
  #next = 0;
  /**
   * Items that came since `#waiting` was begun. In one list with it, those worked off would stay for as long as others
   * keep coming.
   */
  #later: T[] = [];
  /** Items that were worked off in this turn. */
  #done = 0;
  #turning = false;

  /** `atOnce`: items that one turn of the event loop works off, a few milliseconds of them. */
  constructor(atOnce: number, work: (item: T) => void) {
    this.#atOnce = atOnce;
    this.#work = work;
  }

  /** Works the item off now or in a later turn. Items keep the order of the calls. */
  add(item: T): void {
    if (!this.#turning) {
      this.#turning = true;
      setImmediate(() => this.#turn());
    }
    if (this.#done < this.#atOnce && this.#next === this.#waiting.length && this.#later.length === 0) {
      this.#done++;
      this.#work(item);
    } else this.#later.push(item);
  }

  #turn(): void {
    if (this.#next === this.#waiting.length) {
      this.#waiting = this.#later;
      this.#later = [];
      this.#next = 0;
    }
    const end = Math.min(this.#next + this.#atOnce, this.#waiting.length);
    this.#done = end - this.#next;
    this.#turning = this.#done > 0;
    // Before the work: where one fails, the others are worked off in the next turn.
    if (this.#turning) setImmediate(() => this.#turn());
    for (const item of this.#waiting.slice(this.#next, end)) {
      this.#next++;
      this.#work(item);
    }
  }
}
