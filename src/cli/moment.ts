import { parseDuration } from "../model/duration.ts";

/**
 * The moment that a text names, epoch ms; undefined where it names none. Forms: RFC 3339 (`2026-11-21T10:00:00Z`, also
 * without seconds, offset or time of day: then UTC, midnight), `now`, and a duration before now (`90s`, `15m`, `2h`,
 * `7d`, `1d12h`).
 */
export function parseMoment(text: string, now: number): number | undefined {
  if (text === "now") return now;
  const ago = parseDuration(text);
  return ago === undefined ? parseDate(text) : now - ago;
}

const date = /^(\d{4})-(\d{2})-(\d{2})([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2})?)?$/;

function parseDate(text: string): number | undefined {
  const parts = date.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, time, , , offset] = parts;
  const iso = text.replace(" ", "T").toUpperCase();
  const parsed = Date.parse(time === undefined ? `${iso}T00:00Z` : offset === undefined ? `${iso}Z` : iso);
  // Date.parse takes 30 February for 2 March.
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(parsed) || !exists ? undefined : parsed;
}
