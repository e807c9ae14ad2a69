const dayMs = 86_400_000;

/** The most days that can be set: a hundred years. */
export const mostPositionDays = 36_500;

/** Epoch ms from which on positions are kept: those of the current UTC day and of `days` days before it. */
export function keptSince(days: number, now: number): number {
  return (Math.floor(now / dayMs) - days) * dayMs;
}

/**
 * Days as they are read from a store. A number that nobody can have given is damage, which one bit makes: a row has 0
 * in the place of none. For that nothing is hidden, and nothing deleted, which would be final.
 */
export function storedDays(days: number | null): number | null {
  return days !== null && days >= 1 && days <= mostPositionDays ? days : null;
}
