/**
 * RFC 3339 date-time, and of ISO 8601's extended form what clients send beside it: no seconds, no offset, a comma
 * before the fraction, an offset without colon or minutes, a date alone.
 */
const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?)?$/;

/** Years that have four digits in every offset: what is accepted can always be written again. */
const earliest = new Date("0001-01-01T00:00:00.000Z").getTime();
const latest = new Date("9999-12-31T23:59:59.999Z").getTime();

/**
 * The moment that a text names, epoch ms (smaller parts of a second are cut off), or undefined where it names none. A
 * text without offset is UTC, a date alone its midnight; what an offset leads out of the years 0001 to 9999 is their
 * first or last moment. Days that the calendar does not have, hour 24, offsets of a day and the year 0000 are none;
 * second 60 is one only where UTC puts leap seconds, and counts as the second after it.
 */
export function parseInstant(text: string): number | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const offsetHour = part(10);
  const offsetMinute = part(11);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;
  // Not Date.UTC: that reads years below 100 as 19xx.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "").padEnd(3, "0").slice(0, 3)));
  const offset = (offsetHour * 60 + offsetMinute) * 60_000;
  const time = date.getTime() - (match[9] === "-" ? -offset : offset);
  if (second === 60 && Math.floor(time / 1000) % 86_400 !== 0) return undefined;
  return Math.min(Math.max(time, earliest), latest);
}

/** The one form in which the API writes a moment: RFC 3339, UTC, milliseconds. */
export function formatInstant(time: number): string {
  return new Date(time).toISOString();
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
