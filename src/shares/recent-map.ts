/**
 * Values by key, at most `capacity` of them: what was not used for longest goes. It keeps two generations; when the
 * younger one has half of the capacity, the older one is forgotten as a whole. So neither a flood of new keys nor a
 * sweep costs more than a step for each key.
 */
export class RecentMap<K, V> {
  readonly #half: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(capacity: number) {
    this.#half = Math.max(1, Math.ceil(capacity / 2));
  }

  /** How many are kept; one that was used since the last change of generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) this.age();
    this.#young.set(key, value);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Begins a new generation: what is not used before the next one is forgotten then. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}
