import type { DuePlace } from "../ports/alert-store.ts";

/** How much of an account waits in memory, and how much may. */
export interface Share {
  readonly waiting: number;
  readonly room: number;
}

/**
 * Accounts of which more is due than their share of the memory holds: the rest waits in the store, in its order and due
 * all the time. The lane goes on over it to what other accounts have behind it, and comes back to the place where it
 * left it.
 */
export class LeftBehind {
  readonly #shareOf: (account: number) => Share;
  /** The place behind which the rest of each lies; undefined: from the first one on. */
  readonly #places = new Map<number, DuePlace | undefined>();

  constructor(shareOf: (account: number) => Share) {
    this.#shareOf = shareOf;
  }

  get any(): boolean {
    return this.#places.size > 0;
  }

  has(account: number): boolean {
    return this.#places.has(account);
  }

  placeOf(account: number): DuePlace | undefined {
    return this.#places.get(account);
  }

  /** Leaves what an account has behind a place, unless it left some before that. */
  leave(account: number, behind: DuePlace | undefined): void {
    if (!this.#places.has(account)) this.#places.set(account, behind);
  }

  /** It is taken up again from its place on. */
  takeUp(account: number): void {
    this.#places.delete(account);
  }

  clear(): void {
    this.#places.clear();
  }

  /** An account that has half of its share free; undefined: none has. */
  hungry(): number | undefined {
    for (const account of this.#places.keys()) {
      const { waiting, room } = this.#shareOf(account);
      if (2 * waiting <= room) return account;
    }
    return undefined;
  }
}
