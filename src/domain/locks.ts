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

/** Runs at most `count` tasks of one key at a time. Tasks of different keys do not wait for each other. */
export function createLanes(count: number): <T>(key: number, work: () => Promise<T>) => Promise<T> {
  const alone = createLocks<string>();
  // Keys are accounts', so they are few.
  const lanes = new Map<number, number>();
  return (key, work) => {
    const lane = ((lanes.get(key) ?? 0) + 1) % count;
    lanes.set(key, lane);
    return alone(`${key} ${lane}`, work);
  };
}
