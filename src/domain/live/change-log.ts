/** Something that changed. */
export interface Change<T> {
  /** Its place in the order of all changes: 1 for the first. */
  readonly seq: number;
  readonly value: T;
}

interface Slot<T> extends Change<T> {
  readonly about: string;
  readonly bytes: number;
  replaced: boolean;
}

/** Replaced changes that may stay in the list beside the current ones. */
const fewReplaced = 64;

/**
 * The newest change of everything, in the order of the changes. A newer change of a thing replaces the one before, so
 * whoever reads from a place on owes nothing but the place: what it has missed is never more than one change of each
 * thing. Changes that count bytes are bounded; the oldest of them make room, and `lost` says so.
 */
export class ChangeLog<T> {
  readonly #mostBytes: number;
  readonly #current = new Map<string, Slot<T>>();
  /** Those of the current ones that count bytes, the oldest first. */
  readonly #bounded = new Map<string, Slot<T>>();
  readonly #all = new Slots<T>();
  /** Those that count bytes, again. */
  readonly #news = new Slots<T>();
  #bytes = 0;
  #newest = 0;
  #lost = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Place of the newest change; 0: there was none. */
  get newest(): number {
    return this.#newest;
  }

  /** Whoever reads on from before this place misses something. */
  get lost(): number {
    return this.#lost;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds the change of a thing. `bytes`: 0 where things are bounded themselves.
   * @returns the change that it replaces
   */
  put(about: string, value: T, bytes = 0): Change<T> | undefined {
    const before = this.#current.get(about);
    if (before !== undefined) this.#drop(before);
    const slot = { seq: ++this.#newest, value, about, bytes, replaced: false };
    this.#current.set(about, slot);
    this.#all.add(slot, this.#current.size);
    if (bytes > 0) {
      this.#bounded.set(about, slot);
      this.#news.add(slot, this.#bounded.size);
      this.#bytes += bytes;
      this.trim(this.#mostBytes);
    }
    return before;
  }

  /** A thing is gone, and its change with it. */
  remove(about: string): void {
    const slot = this.#current.get(about);
    if (slot !== undefined) this.#drop(slot);
  }

  /** The oldest changes that count bytes make room until these are left. */
  trim(bytes: number): void {
    for (const oldest of this.#bounded.values()) {
      if (this.#bytes <= bytes) break;
      this.#drop(oldest);
      this.#lost = oldest.seq;
    }
  }

  /** A place without a change: what is asked for from before it is from before now. */
  pass(): number {
    return ++this.#newest;
  }

  /** Something happened that nobody can be told. */
  lose(): void {
    this.#lost = this.pass();
  }

  /** The changes behind a place, in their order. */
  after(seq: number): Iterable<Change<T>> {
    return this.#all.after(seq);
  }

  /**
   * Of the changes behind a place those of some things, and all that count bytes. Costs nothing for what else changes.
   */
  some(abouts: Iterable<string>, seq: number): Iterable<Change<T>> {
    const found: Slot<T>[] = [];
    for (const about of abouts) {
      const slot = this.#current.get(about);
      if (slot !== undefined && slot.seq > seq && slot.bytes === 0) found.push(slot);
    }
    for (const slot of this.#news.after(seq)) found.push(slot);
    return found.sort((one, other) => one.seq - other.seq);
  }

  #drop(slot: Slot<T>): void {
    slot.replaced = true;
    this.#current.delete(slot.about);
    if (this.#bounded.delete(slot.about)) this.#bytes -= slot.bytes;
  }
}

/** Slots in their order, some of which were replaced. */
class Slots<T> {
  #slots: Slot<T>[] = [];

  /** `current`: how many of them are not replaced. */
  add(slot: Slot<T>, current: number): void {
    this.#slots.push(slot);
    if (this.#slots.length > 2 * current + fewReplaced) this.#slots = this.#slots.filter(({ replaced }) => !replaced);
  }

  *after(seq: number): Generator<Slot<T>, void, undefined> {
    const slots = this.#slots;
    for (let index = firstAfter(slots, seq); index < slots.length; index++) {
      const slot = slots[index];
      if (slot !== undefined && !slot.replaced) yield slot;
    }
  }
}

/** Index of the first slot behind a place. */
function firstAfter(slots: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  for (let high = slots.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((slots[middle]?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
