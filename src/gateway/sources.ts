/** What the peers of one address (of one /64, where it is IPv6) have of what all share. */
export class Source {
  /** The address as limits count it. */
  readonly share: string;
  /** TCP connections and UDP peers. */
  peers = 0;
  /** TCP connections among them. */
  connections = 0;
  /** UDP peers whose first device is being asked for. */
  asking = 0;
  /** Bytes that were read and wait. */
  held = 0;
  /** They are too many: its connections are not read. */
  full = false;

  constructor(share: string) {
    this.share = share;
  }
}

/** The addresses that have a peer at present. */
export class Sources {
  readonly #sources = new Map<string, Source>();

  /** A peer of this address comes. */
  enter(share: string): Source {
    const source = this.#sources.get(share) ?? new Source(share);
    this.#sources.set(share, source);
    source.peers++;
    return source;
  }

  find(share: string): Source | undefined {
    return this.#sources.get(share);
  }

  /** A peer is gone. */
  leave(source: Source): void {
    source.peers--;
    if (source.peers === 0) this.#sources.delete(source.share);
  }
}
