import { RecentMap } from "./recent-map.ts";

/** Keys that are counted at a time, some 100 bytes each; those that spent nothing for longest begin anew. */
const mostKeys = 10_000;

/** What a key has left, and when that was counted, monotonic ms. */
interface Left {
  readonly count: number;
  readonly at: number;
}

/**
 * What each key may spend: a minute's number at once, and the same number a minute from then on. What is spent beyond
 * that is a debt of a minute at most.
 */
export class MinuteBudget<K> {
  readonly #perMinute: number;
  readonly #left = new RecentMap<K, Left>(mostKeys);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** What the key has left; negative: a debt. `now`: monotonic ms. */
  left(key: K, now: number): number {
    const left = this.#left.get(key);
    if (left === undefined) return this.#perMinute;
    return Math.min(this.#perMinute, left.count + ((now - left.at) * this.#perMinute) / 60_000);
  }

  spend(key: K, count: number, now: number): void {
    this.#left.set(key, { count: Math.max(this.left(key, now) - count, -this.#perMinute), at: now });
  }
}
