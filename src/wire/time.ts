/**
 * Epoch milliseconds of a UTC calendar date and time as a tracker reports it; undefined where a field is out of its range
 * (month 13, second 61, 30 February): Date.UTC would silently roll it over. Two-digit years count from 2000.
 */
export function utc(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
  millisecond = 0,
): number | undefined {
  const fullYear = year < 100 ? 2000 + year : year;
  if (!(month >= 1 && month <= 12 && day >= 1 && hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59))
    return undefined;
  if (!(second >= 0 && second <= 59 && millisecond >= 0 && millisecond <= 999)) return undefined;
  const time = Date.UTC(fullYear, month - 1, day, hour, minute, second, millisecond);
  return new Date(time).getUTCDate() === day ? time : undefined;
}
