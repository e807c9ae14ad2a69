import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { weightOf } from "../shares/weight.ts";

/** How a cache of stored values behaves. */
export interface CacheOptions<K, V> {
  readonly clock: Clock;
  readonly load: (key: K) => Promise<V | undefined>;
  /** A value is read again after this time, ms, because events about changes may be lost. */
  readonly maxAgeMs: number;
  /** The most values; the oldest makes room. */
  readonly capacity: number;
  /**
   * The most bytes of all values together, as `weightOf` estimates; the oldest make room, and one that is larger by
   * itself is not kept.
   */
  readonly mostBytes: number;
}

/**
 * Values of the store kept in memory: answers at once for what it has, and reads what it has not (absence is not kept).
 */
export interface Cache<K, V> {
  get(key: K): V | undefined | Promise<V | undefined>;
  /** Forgets a value; a read that is under way will not bring the old one back. */
  drop(key: K): void;
  /** Forgets the values of all keys that match. */
  dropAll(matches?: (key: K) => boolean): void;
}

/**
 * Forgets all values where another process is missed: it may have told nothing of its last change. What it told is for
 * the cache's owner to hear.
 */
export function dropWhereMissed(bus: Pick<Bus, "subscribe">, cache: { dropAll(): void }): void {
  bus.subscribe((event) => {
    if (event.type === "processesChanged" && event.missed.length > 0) cache.dropAll();
  });
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly until: number;
}

/**
 * A cache that reads each missing value once, however many ask for it meanwhile, and forgets the oldest beyond its
 * capacity.
 */
export function createCache<K, V>({ clock, load, maxAgeMs, capacity, mostBytes }: CacheOptions<K, V>): Cache<K, V> {
  const entries = new Map<K, Entry<V>>();
  const loading = new Map<K, Promise<V | undefined>>();
  let held = 0;

  function read(key: K): Promise<V | undefined> {
    const reading = load(key).then(
      (value) => {
        // Where the key was dropped meanwhile, this value may be older than the change.
        if (loading.get(key) === reading) {
          loading.delete(key);
          if (value !== undefined) keep(key, value);
        }
        return value;
      },
      (error: unknown) => {
        if (loading.get(key) === reading) loading.delete(key);
        throw error;
      },
    );
    loading.set(key, reading);
    return reading;
  }

  function keep(key: K, value: V): void {
    forget(key);
    const bytes = weightOf(value);
    if (bytes > mostBytes) return;
    for (const oldest of entries.keys()) {
      if (entries.size < capacity && held + bytes <= mostBytes) break;
      forget(oldest);
    }
    entries.set(key, { value, bytes, until: clock.monotonic() + maxAgeMs });
    held += bytes;
  }

  function forget(key: K): void {
    held -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function drop(key: K): void {
    forget(key);
    loading.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry !== undefined && clock.monotonic() < entry.until) return entry.value;
      return loading.get(key) ?? read(key);
    },
    drop,
    dropAll(matches = () => true) {
      for (const key of [...entries.keys(), ...loading.keys()]) if (matches(key)) drop(key);
    },
  };
}
