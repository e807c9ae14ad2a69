import type { RememberedKnock } from "../ports/quarantine.ts";
import { Places } from "../shares/places.ts";

/** What is remembered of a tracker that knocks, and who is answerable for it. */
export interface KnockEntry {
  readonly key: string;
  readonly share: string;
  /** The registered device that the tracker says it is. */
  readonly device: string | undefined;
  readonly knock: RememberedKnock;
}

/**
 * A bounded list of knocks, the newest last. When it is full, the oldest of whoever has most makes room, so nobody
 * empties it of the others' by adding many.
 */
export class KnockList {
  readonly #most: number;
  readonly #byKey = new Map<string, KnockEntry>();
  readonly #places = new Places<KnockEntry>(1);

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): KnockEntry | undefined {
    return this.#byKey.get(key);
  }

  /** Adds an entry, in place of the one with the same key. */
  set(entry: KnockEntry): void {
    this.delete(this.#byKey.get(entry.key));
    this.#byKey.set(entry.key, entry);
    this.#places.add(entry);
    if (this.#places.size > this.#most) this.delete(this.#places.next(undefined)?.connection);
  }

  delete(entry: KnockEntry | undefined): void {
    if (entry === undefined) return;
    this.#byKey.delete(entry.key);
    this.#places.delete(entry);
  }

  [Symbol.iterator](): Iterator<KnockEntry> {
    return this.#places[Symbol.iterator]();
  }
}
