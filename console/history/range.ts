/** From one moment to another, both ISO 8601. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** A moment as a field of local time shows it in a zone: "2026-01-15T12:30:00". */
export function localText(moment: string, timeZone: string): string {
  const { year, month, day, hour, minute, second } = partsOf(Date.parse(moment), timeZone);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

/** The moment that a field of local time names in a zone. Of an hour that is there twice it is the first. */
export function momentOf(local: string, timeZone: string): string {
  const asUtc = Date.parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  if (Number.isNaN(asUtc)) return local;
  const before = offsetOf(asUtc - 86_400_000, timeZone);
  const guess = asUtc - before;
  const offset = offsetOf(guess, timeZone);
  return new Date(offset === before ? guess : asUtc - offset).toISOString();
}

/** What a field of local time shows of a moment; of none it is empty. */
export function fieldOf(moment: string | null | undefined, timeZone: string): string {
  return moment ? localText(moment, timeZone) : "";
}

/** What a field of local time means. A moment that was not touched stays as it was, to the millisecond. */
export function momentOrNull(field: string, before: string | null | undefined, timeZone: string): string | null {
  if (field === "") return null;
  return before && field === localText(before, timeZone) ? before : momentOf(field, timeZone);
}

/** A moment as addresses have it: whole, with its zone. `Date.parse` reads much else, "2020" and "junk 7" among it. */
const wholeMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * The range that an address names. Without an end, it ends now. Without a beginning, it is `usualMs` long.
 * A moment that can't be read counts as missing, and so do both moments of a range that ends before it begins.
 */
export function rangeIn(query: URLSearchParams, now: number, usualMs: number): Range {
  const end = momentIn(query, "to") ?? now;
  const begin = momentIn(query, "from") ?? end - usualMs;
  const [from, to] = begin <= end ? [begin, end] : [now - usualMs, now];
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function momentIn(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name) ?? "";
  const moment = wholeMoment.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

/** The day of a zone that was so many days ago; the present one ends now. */
export function dayRange(now: number, back: number, timeZone: string): Range {
  const { year, month, day } = partsOf(now, timeZone);
  const noon = Date.UTC(Number(year), Number(month) - 1, Number(day) - back, 12);
  const from = momentOf(`${new Date(noon).toISOString().slice(0, 10)}T00:00:00`, timeZone);
  if (back === 0) return { from, to: new Date(now).toISOString() };
  const after = momentOf(`${new Date(noon + 86_400_000).toISOString().slice(0, 10)}T00:00:00`, timeZone);
  return { from, to: new Date(Date.parse(after) - 1).toISOString() };
}

function offsetOf(moment: number, timeZone: string): number {
  return Date.parse(`${localText(new Date(moment).toISOString(), timeZone)}Z`) - Math.floor(moment / 1000) * 1000;
}

function partsOf(moment: number, timeZone: string): Readonly<Record<string, string>> {
  const format = new Intl.DateTimeFormat("en-CA", {
    ...{ timeZone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
  });
  return Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
}
