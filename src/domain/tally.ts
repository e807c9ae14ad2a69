/**
 * What one key has used: `total` ever, `daily` in its UTC day. `total` and `daily` hold what is stored and what is not
 * stored yet.
 */
export interface TallyEntry {
  readonly key: number;
  /** Days since 1970, UTC. */
  day: number;
  total: number;
  daily: number;
  /** Part of `daily` that is not stored yet, and that of it which nobody is storing. */
  unstored: number;
  pending: number;
  /** When the stored sums were read, epoch ms. */
  readAt: number;
  /** Asked for since `trim` last passed it by. */
  used: boolean;
}

/** What is to be added to the store for a key and a day, `2026-11-21`. */
export interface TallyDelta {
  readonly key: number;
  readonly day: string;
  readonly count: number;
}

const dayMs = 86_400_000;

/** The UTC day of a moment, `2026-11-21`. */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Whole seconds until the next UTC day begins, at least one. */
export function secondsToNextDay(time: number): number {
  return Math.max(1, Math.ceil((dayMs - (time % dayMs)) / 1000));
}

/** Keys whose counters stay in memory, some 200 bytes each; the ones not used for longest make room. */
const keptEntries = 100_000;
/** Age at which stored sums are read again while other processes add to them, ms. */
const mostAgeMs = 1000;
/** Entries that one `trim` looks at: it runs once a second, beside everything else. */
const trimmedAtOnce = 10_000;

/**
 * Counters kept in memory, exact: the stored sums are read once for each key, and what is added since goes to the store
 * in deltas. `load` gives the stored sums of a key and a day. While `isShared`, other processes add to them, and they
 * are read again each second that a key is asked for.
 */
export class Tally {
  readonly #entries = new Map<number, TallyEntry>();
  readonly #loading = new Map<number, Promise<TallyEntry>>();
  readonly #again = new Map<number, Promise<TallyEntry>>();
  readonly #load: (key: number, day: string) => Promise<{ readonly total: number; readonly daily: number }>;
  /** Those with something to store: a flush costs what was used since the last one, not what is known. */
  readonly #pending = new Set<TallyEntry>();
  readonly #capacity: number;
  readonly #isShared: () => boolean;
  /** Deltas of days that have ended, and those whose storing failed. */
  #owed: TallyDelta[] = [];

  constructor(
    load: (key: number, day: string) => Promise<{ readonly total: number; readonly daily: number }>,
    { capacity = keptEntries, isShared = () => false }: { capacity?: number; isShared?: () => boolean } = {},
  ) {
    this.#isShared = isShared;
    this.#load = load;
    this.#capacity = capacity;
  }

  /** The counters of a key as of now; at once where they are in memory. */
  entry(key: number, now: number): TallyEntry | Promise<TallyEntry> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#loading.get(key) ?? this.#read(key, now);
    entry.used = true;
    const day = Math.floor(now / dayMs);
    // A clock that was set back does not open a day again that has ended.
    if (day > entry.day) {
      if (entry.pending > 0) this.#owed.push(deltaOf(entry));
      entry.day = day;
      entry.daily = 0;
      entry.unstored = 0;
      entry.pending = 0;
    }
    if (this.#isShared() && Math.abs(now - entry.readAt) >= mostAgeMs)
      return this.#again.get(key) ?? this.#readAgain(entry, now);
    return entry;
  }

  /** Adds to an entry that `entry` has just given. */
  add(entry: TallyEntry, count: number): void {
    if (entry.pending === 0) this.#pending.add(entry);
    entry.total += count;
    entry.daily += count;
    entry.unstored += count;
    entry.pending += count;
  }

  /**
   * Takes everything that is not stored yet. Once it is, `stored` is told; where storing it fails, `restore` gives it
   * back.
   */
  drain(): TallyDelta[] {
    const deltas = this.#owed;
    this.#owed = [];
    for (const entry of this.#pending) {
      // Its day may have ended meanwhile, and what it had is owed already.
      if (entry.pending > 0) deltas.push(deltaOf(entry));
      entry.pending = 0;
    }
    this.#pending.clear();
    return deltas;
  }

  stored(deltas: readonly TallyDelta[]): void {
    for (const { key, day, count } of deltas) {
      const entry = this.#entries.get(key);
      if (entry !== undefined && utcDay(entry.day * dayMs) === day)
        entry.unstored = Math.max(0, entry.unstored - count);
    }
  }

  restore(deltas: readonly TallyDelta[]): void {
    this.#owed.push(...deltas);
  }

  /**
   * Makes room beyond the capacity. Only when everything that `drain` gave is stored: what is forgotten is read again
   * from there.
   */
  trim(): void {
    if (this.#owed.length > 0) return;
    let looks = Math.min(trimmedAtOnce, this.#entries.size);
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#capacity || looks-- === 0) return;
      this.#entries.delete(key);
      if (entry.pending === 0 && !entry.used) continue;
      // A second chance, behind all others.
      entry.used = false;
      this.#entries.set(key, entry);
    }
  }

  /** Forgets a key whose owner is gone, and what is owed for it. */
  forget(key: number): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#pending.delete(entry);
    this.#entries.delete(key);
    this.#loading.delete(key);
    this.#owed = this.#owed.filter((delta) => delta.key !== key);
  }

  #read(key: number, now: number): Promise<TallyEntry> {
    const reading = this.#load(key, utcDay(now)).then(
      ({ total, daily }) => {
        const entry = {
          key,
          day: Math.floor(now / dayMs),
          total,
          daily,
          unstored: 0,
          pending: 0,
          readAt: now,
          used: true,
        };
        if (this.#loading.get(key) === reading) {
          this.#loading.delete(key);
          this.#entries.set(key, entry);
        }
        return entry;
      },
      (error: unknown) => {
        this.#loading.delete(key);
        throw error;
      },
    );
    this.#loading.set(key, reading);
    return reading;
  }

  /** What can't be read stays as it was known. */
  #readAgain(entry: TallyEntry, now: number): Promise<TallyEntry> {
    const { key, day } = entry;
    const reading = this.#load(key, utcDay(day * dayMs))
      .then(({ total, daily }) => {
        entry.readAt = now;
        entry.total = total + entry.unstored;
        if (entry.day === day) entry.daily = daily + entry.unstored;
      })
      .catch(() => undefined)
      .then(() => {
        if (this.#again.get(key) === reading) this.#again.delete(key);
        return entry;
      });
    this.#again.set(key, reading);
    return reading;
  }
}

function deltaOf(entry: TallyEntry): TallyDelta {
  return { key: entry.key, day: utcDay(entry.day * dayMs), count: entry.pending };
}
