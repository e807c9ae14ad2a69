const firstMs = 1000;
const longestMs = 30_000;

/**
 * How long to wait before the next attempt: 1, 2, 4 … 30 s, of which a random half is left out, so that a thousand
 * pages don't come back at once. `random`: 0 to 1.
 */
export function waitMs(failures: number, random: number): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return whole / 2 + (whole / 2) * random;
}
