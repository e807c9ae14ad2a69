/** How much may wait. */
export interface TurnLimits {
  /** Works that wait, of all owners together. */
  readonly waiting: number;
  /** Of these, what one owner may have. */
  readonly each: number;
}

/**
 * Works that are done one at a time. Owners take turns: who brings many waits for itself, and holds up each other one
 * by a single work.
 */
export class Turns<K extends number | string = number> {
  readonly #limits: TurnLimits;
  /** What waits, by owner; the owner whose turn is next comes first. */
  readonly #lanes = new Map<K, (() => Promise<void>)[]>();
  #waiting = 0;
  #working = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Does the work when its turn comes, and gives its result. `ownFull`: too many of the owner's wait; `full`: too many
   * of all.
   */
  take<T>(owner: K, work: () => Promise<T>): Promise<T> | "ownFull" | "full" {
    const lane = this.#lanes.get(owner) ?? [];
    if (lane.length >= this.#limits.each) return "ownFull";
    if (this.#waiting >= this.#limits.waiting) return "full";
    return this.#queue(owner, lane, work);
  }

  /** The same for works of which something else bounds how many wait. */
  always<T>(owner: K, work: () => Promise<T>): Promise<T> {
    return this.#queue(owner, this.#lanes.get(owner) ?? [], work);
  }

  #queue<T>(owner: K, lane: (() => Promise<void>)[], work: () => Promise<T>): Promise<T> {
    const result = Promise.withResolvers<T>();
    lane.push(() => Promise.try(work).then(result.resolve, result.reject));
    this.#lanes.set(owner, lane);
    this.#waiting++;
    if (!this.#working) this.#next();
    return result.promise;
  }

  #next(): void {
    const [first] = this.#lanes;
    this.#working = first !== undefined;
    if (first === undefined) return;
    const [owner, lane] = first;
    const work = lane.shift();
    this.#lanes.delete(owner);
    if (lane.length > 0) this.#lanes.set(owner, lane);
    this.#waiting--;
    void work?.().finally(() => this.#next());
  }
}
