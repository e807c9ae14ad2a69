import { utc } from "../../wire/time.ts";

/** Below this a number counts seconds (until 2038), from here on milliseconds (since January 1970). */
const secondsLimit = 2_147_483_647;

const isoPattern = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+ -]\d\d:?\d\d)?$/i;

/**
 * Epoch ms of a timestamp as phone apps send it: seconds or milliseconds since 1970, or ISO 8601 with T or a blank;
 * without an offset it is UTC. A number that is too large for a calendar is given as it is; a date that does not exist
 * counts as one of 1970. Ingest refuses both. Undefined: none of these. (OsmAnd protocol, parameter timestamp)
 */
export function parseTimestamp(text: string): number | undefined {
  if (/^\d{1,20}(\.\d+)?$/.test(text)) {
    const value = Number(text);
    return Math.round(value < secondsLimit ? value * 1000 : value);
  }
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = "0", fraction = "", offset = "Z"] = match;
  const milliseconds = Number(fraction.padEnd(3, "0").slice(0, 3));
  const local = utc(
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    milliseconds,
  );
  return local === undefined ? 0 : local - offsetMs(offset);
}

function offsetMs(offset: string): number {
  if (offset.length === 1) return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
  // A `+` that was not percent-encoded arrives as a blank.
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}
