/** An entry and who is answerable for it. */
interface Entry<T> {
  readonly owner: string;
  readonly value: T;
}

/**
 * A bounded list, the newest last. While there is room anybody may take any part of it. When it is full, the owner with most entries makes room if it has
 * more than its share, its oldest first; else the oldest of all. So nobody empties it of the others' entries by adding many.
 */
export class FairList<T> {
  readonly #capacity: number;
  readonly #share: number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #byOwner = new Map<string, Set<string>>();
  /** Owners above their share: at most as many as shares fit into the list, so that looking for the greatest is cheap. */
  readonly #above = new Set<string>();

  constructor(capacity: number, share: number) {
    this.#capacity = capacity;
    this.#share = share;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Adds an entry or replaces it; it is the newest now. One that is replaced stays its owner's, so that nobody draws others' entries to themselves. */
  set(key: string, adder: string, value: T): void {
    const owner = this.#entries.get(key)?.owner ?? adder;
    this.delete(key);
    this.#entries.set(key, { owner, value });
    const own = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, own.add(key));
    if (own.size > this.#share) this.#above.add(owner);
    if (this.#entries.size > this.#capacity) this.delete(this.#next());
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    const own = this.#byOwner.get(entry.owner);
    own?.delete(key);
    if (own?.size === 0) this.#byOwner.delete(entry.owner);
    if (own?.size === this.#share) this.#above.delete(entry.owner);
  }

  /** Keys and values, the oldest first. */
  *[Symbol.iterator](): Generator<readonly [string, T]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /** The entry that makes room. */
  #next(): string {
    let greatest: ReadonlySet<string> | undefined;
    for (const owner of this.#above) {
      const own = this.#byOwner.get(owner);
      if (own !== undefined && own.size > (greatest?.size ?? 0)) greatest = own;
    }
    const [oldest = ""] = greatest ?? this.#entries.keys();
    return oldest;
  }
}
