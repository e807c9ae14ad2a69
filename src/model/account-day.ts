/** The day that a moment lies in, in a time zone (IANA name): `2026-11-21`. */
export function dayIn(timeZone: string, now: number): string {
  return zoned(timeZone, now).toPlainDate().toString();
}

/** When that day began there, epoch ms. */
export function startOfDayIn(timeZone: string, now: number): number {
  return zoned(timeZone, now).startOfDay().epochMilliseconds;
}

/**
 * When the next day begins there, epoch ms. Days of 23 and 25 hours, and those whose midnight is skipped, are counted
 * as they are.
 */
export function nextDayIn(timeZone: string, now: number): number {
  return zoned(timeZone, now).add({ days: 1 }).startOfDay().epochMilliseconds;
}

/** Whole seconds until the next day begins there, at least one. */
export function secondsToNextDayIn(timeZone: string, now: number): number {
  return Math.max(1, Math.ceil((nextDayIn(timeZone, now) - now) / 1000));
}

function zoned(timeZone: string, now: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
}
