/** The day that a moment lies in, in a time zone (IANA name): `2026-11-21`. */
export function dayIn(timeZone: string, now: number): string {
  return zoned(timeZone, now).toPlainDate().toString();
}

/** Whole seconds until the next day begins there, at least one. Days of 23 and 25 hours, and those whose midnight is skipped, are counted as they are. */
export function secondsToNextDayIn(timeZone: string, now: number): number {
  const next = zoned(timeZone, now).add({ days: 1 }).startOfDay().epochMilliseconds;
  return Math.max(1, Math.ceil((next - now) / 1000));
}

function zoned(timeZone: string, now: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
}
