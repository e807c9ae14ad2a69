/** The most bytes of rows to read at a time, unless one row has more: the server sends an answer whole. */
export const mostBytes = 4 * 1024 * 1024;

/** Finds the end of a portion of rows: from `from` on as many as have `mostBytes` together, and one at least. `sizes`: their bytes by their keys. */
export function endOfPortion(keys: readonly number[], from: number, sizes: ReadonlyMap<number, number>): number {
  let bytes = sizes.get(keys[from] ?? 0) ?? 0;
  let end = Math.min(from + 1, keys.length);
  for (; end < keys.length; end++) {
    bytes += sizes.get(keys[end] ?? 0) ?? 0;
    if (bytes > mostBytes) break;
  }
  return end;
}
