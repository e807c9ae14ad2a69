/** Why a piece of work can't be done. */
export interface Failure {
  readonly error: unknown;
}

/**
 * Does a work for many at once. Where it fails, the same for each half of them, down to those with which it fails
 * alone: these are handed to `culprit`, and for all others it is done. With `k` culprits among `n` it fails some `k`
 * log2(`n`) times. What `work` throws ends all of it.
 */
export async function divide<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<Failure | undefined>,
  culprit: (item: T, failure: Failure) => void,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  const failure = await work(items);
  if (failure === undefined) return;
  if (items.length === 1) {
    culprit(first, failure);
    return;
  }
  for (const half of halves(items)) await divide(half, work, culprit);
}

/** Two parts of at least two items. */
export function halves<T>(items: readonly T[]): readonly (readonly T[])[] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
