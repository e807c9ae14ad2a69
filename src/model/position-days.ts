const dayMs = 86_400_000;

/** The most days that can be set: a hundred years. */
export const mostPositionDays = 36_500;

/** Epoch ms from which on positions are kept: those of the current UTC day and of `days` days before it. */
export function keptSince(days: number, now: number): number {
  return (Math.floor(now / dayMs) - days) * dayMs;
}
