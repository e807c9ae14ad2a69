/** What is known of a half-open connection here. */
interface Addressed {
  /** The peer's address, without its port. */
  readonly address: string;
}

/**
 * The connections without a known device, and who of them makes room for others.
 *
 * While places are free, one address may take any number: a fleet behind a mobile network's address reconnects all at once. When they are taken,
 * the address that has most makes room if it has more than its share, so that nobody can keep others out with connections from one address, and two
 * fleets get equal parts. Where no address has more than its share, whoever is half-open for longest makes room.
 */
export class HalfOpen<C extends Addressed> {
  /** In the order of their opening, but for those that were refused later. The same within an address. */
  readonly #all = new Set<C>();
  readonly #byAddress = new Map<string, Set<C>>();
  /** Addresses above their share, at most as many as shares fit into the limit: looking for the greatest is cheap. */
  readonly #above = new Map<string, Set<C>>();
  readonly #share: number;

  /** `share`: connections of one address that are safe while another one has more. */
  constructor(share: number) {
    this.#share = share;
  }

  get size(): number {
    return this.#all.size;
  }

  add(connection: C): void {
    if (this.#all.has(connection)) return;
    this.#all.add(connection);
    const { address } = connection;
    const mates = this.#byAddress.get(address) ?? new Set();
    if (mates.size === 0) this.#byAddress.set(address, mates);
    mates.add(connection);
    if (mates.size > this.#share) this.#above.set(address, mates);
  }

  delete(connection: C): void {
    if (!this.#all.delete(connection)) return;
    const { address } = connection;
    const mates = this.#byAddress.get(address);
    mates?.delete(connection);
    if (mates?.size === 0) this.#byAddress.delete(address);
    if (mates?.size === this.#share) this.#above.delete(address);
  }

  [Symbol.iterator](): Iterator<C> {
    return this.#all.values();
  }

  /** The connection that is to make room for one more of this address, and why; undefined: there is none. */
  next(address: string): { readonly connection: C; readonly cause: "halfOpenShare" | "full" } | undefined {
    const own = this.#byAddress.get(address);
    let greatest = own !== undefined && own.size >= this.#share ? own : undefined;
    let most = greatest === undefined ? 0 : greatest.size + 1;
    for (const mates of this.#above.values())
      if (mates.size > most) {
        greatest = mates;
        most = mates.size;
      }
    for (const connection of greatest ?? this.#all)
      return { connection, cause: greatest === undefined ? "full" : "halfOpenShare" };
    return undefined;
  }
}
