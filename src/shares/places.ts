/** What takes a place. */
interface Guest {
  /** Whose it is: its address as limits count it. Undefined: nobody's, so that it counts for itself. */
  readonly share: string | undefined;
}

/** Who is to make room, and whether its share has more than is its own. */
export interface Leaving<C> {
  readonly connection: C;
  readonly beyondShare: boolean;
}

/**
 * Connections that may be asked to make room for others.
 *
 * While places are free, one address may take any number: a fleet behind a mobile network's address reconnects all at
 * once. When they are taken, the address that has most makes room if it has more than its share, so that nobody can
 * keep others out with connections from one address, and two fleets get equal parts. Where no address has more than its
 * share, whoever has its place for longest makes room.
 */
export class Places<C extends Guest> {
  /** In the order in which they came or were last moved to the end. The same within a share. */
  readonly #all = new Set<C>();
  readonly #byShare = new Map<string, Set<C>>();
  /** Those above their share, at most as many as shares fit into the limit: looking for the greatest is cheap. */
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
    const { share } = connection;
    if (share === undefined) return;
    const mates = this.#byShare.get(share) ?? new Set();
    if (mates.size === 0) this.#byShare.set(share, mates);
    mates.add(connection);
    if (mates.size > this.#share) this.#above.set(share, mates);
  }

  delete(connection: C): void {
    const { share } = connection;
    if (!this.#all.delete(connection) || share === undefined) return;
    const mates = this.#byShare.get(share);
    mates?.delete(connection);
    if (mates?.size === 0) this.#byShare.delete(share);
    if (mates?.size === this.#share) this.#above.delete(share);
  }

  /** It was of use: it is the last to make room. */
  renew(connection: C): void {
    if (!this.#all.has(connection)) return;
    this.delete(connection);
    this.add(connection);
  }

  [Symbol.iterator](): Iterator<C> {
    return this.#all.values();
  }

  /** How many of a share there are. */
  count(share: string): number {
    return this.#byShare.get(share)?.size ?? 0;
  }

  /** The connection of this share that is to make room for another one of it: the first that may. */
  nextOf(share: string, may?: (connection: C) => boolean): C | undefined {
    return first(this.#byShare.get(share), may);
  }

  /** The connection that is to make room for one more of this share, of those that may; undefined: there is none. */
  next(share: string | undefined, may?: (connection: C) => boolean): Leaving<C> | undefined {
    const own = share === undefined ? undefined : this.#byShare.get(share);
    let greatest = own !== undefined && own.size >= this.#share ? own : undefined;
    let most = greatest === undefined ? 0 : greatest.size + 1;
    for (const mates of this.#above.values())
      if (mates.size > most) {
        greatest = mates;
        most = mates.size;
      }
    const beyond = first(greatest, may);
    if (beyond !== undefined) return { connection: beyond, beyondShare: true };
    const any = first(this.#all, may);
    return any && { connection: any, beyondShare: false };
  }
}

function first<C>(connections: ReadonlySet<C> | undefined, may?: (connection: C) => boolean): C | undefined {
  for (const connection of connections ?? []) if (may === undefined || may(connection)) return connection;
  return undefined;
}
