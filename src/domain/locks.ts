import { ChangedSince, StoreUnavailable } from "../ports/store.ts";

/** How often a change is judged again because another process was faster. */
const mostTries = 20;

/**
 * Runs the changes of what one key names one after the other, as `createLocks` does. If another process changed it
 * meanwhile, the store writes nothing, and the change is read and judged again from its beginning. So a change must
 * have no effects before it is written.
 */
export function createChanges<K>(): <T>(key: K, change: () => Promise<T>) => Promise<T> {
  const alone = createLocks<K>();
  return (key, change) =>
    alone(key, async () => {
      for (let tries = 1; ; tries++)
        try {
          return await change();
        } catch (error) {
          if (!(error instanceof ChangedSince)) throw error;
          if (tries === mostTries) throw new StoreUnavailable("others keep changing it", { cause: error });
        }
    });
}

/** Runs the work of one key after that of the same key before it; works of different keys run side by side. */
export function createLocks<K>(): <T>(key: K, work: () => Promise<T>) => Promise<T> {
  const last = new Map<K, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
