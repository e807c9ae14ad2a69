/**
 * Epoch milliseconds of a UTC calendar date and time as a tracker reports it; undefined where a field is out of its
 * range (month 13, second 61, 30 February): Date.UTC would silently roll it over. Two-digit years count from 2000.
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
  if (day > 28 && day > lastDay(fullYear, month)) return undefined;
  const time = Date.UTC(fullYear, month - 1, day, hour, minute, second, millisecond);
  return Number.isNaN(time) ? undefined : time;
}

/** Of a month from 1 to 12. */
function lastDay(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Epoch milliseconds of six bytes of packed BCD, year month day hour minute second, by a clock that is `offsetMs` ahead
 * of UTC. Undefined where a nibble is no digit or a field is out of its range.
 */
export function bcdTime(bytes: Uint8Array, at: number, offsetMs = 0): number | undefined {
  const time = utc(
    bcdByte(bytes, at),
    bcdByte(bytes, at + 1),
    bcdByte(bytes, at + 2),
    bcdByte(bytes, at + 3),
    bcdByte(bytes, at + 4),
    bcdByte(bytes, at + 5),
  );
  return time === undefined ? undefined : time - offsetMs;
}

/** Two decimal digits; NaN where one is none, or there is no such byte. */
function bcdByte(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0xff;
  const high = byte >> 4;
  const low = byte & 0x0f;
  return high > 9 || low > 9 ? Number.NaN : high * 10 + low;
}

/**
 * Epoch milliseconds of the digits `yymmddhhmmss` at a place of a text, or with `digits` 14 of `yyyymmddhhmmss`.
 * Undefined where they are no date.
 */
export function digitTime(text: string, at = 0, digits: 12 | 14 = 12): number | undefined {
  const year = digits === 14 ? twoDigits(text, at) * 100 + twoDigits(text, at + 2) : twoDigits(text, at);
  const from = at + digits - 10;
  return utc(
    year,
    twoDigits(text, from),
    twoDigits(text, from + 2),
    twoDigits(text, from + 4),
    twoDigits(text, from + 6),
    twoDigits(text, from + 8),
  );
}

function twoDigits(text: string, at: number): number {
  const high = text.charCodeAt(at) - 48;
  const low = text.charCodeAt(at + 1) - 48;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
}
