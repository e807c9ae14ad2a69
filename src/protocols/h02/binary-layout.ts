/** A binary message up to its vehicle status, with what every maker adds at the least: the shortest one. */
export const minimumBinary = 32;
/**
 * Longest binary message taken: the longest known has 48 bytes; lists of cells or access points add 7 or 8 for each.
 */
export const maximumBinary = 128;
/**
 * Lengths that trackers show, the shortest first; where a stream stops within the next message's head, an end there is
 * believed.
 */
export const knownLengths: readonly number[] = [32, 42, 45, 47, 48];
/** Bytes of a head that carries the longer identifier: marker, 8 bytes identifier, time, date. */
export const headLength = 15;

/** Bytes of the identifier: ten digits, or an IMEI and a filling digit. */
export type IdBytes = 5 | 8;

/**
 * How long the identifier of the message at `at` is; undefined: no message begins there. `whole`: its length, where
 * known.
 */
export function idBytes(bytes: Uint8Array, at: number, whole?: number): IdBytes | undefined {
  if (bytes[at] !== 0x24) return undefined;
  const short = hasHead(bytes, at, 5);
  if (short && whole !== 42) return 5;
  return hasHead(bytes, at, 8) ? 8 : short ? 5 : undefined;
}

/** Whether an identifier of so many bytes, a time and a date in BCD stand behind the marker. */
function hasHead(bytes: Uint8Array, at: number, id: IdBytes): boolean {
  // An IMEI has 15 digits; what fills its last byte may be anything.
  const whole = id === 8 ? 7 : id;
  for (let index = 1; index <= whole; index++) if (!(digits(bytes[at + index]) <= 99)) return false;
  if (id === 8 && (bytes[at + 8] ?? 0xff) >> 4 > 9) return false;
  const clock = at + 1 + id;
  return (
    digits(bytes[clock]) <= 23 &&
    digits(bytes[clock + 1]) <= 59 &&
    digits(bytes[clock + 2]) <= 59 &&
    digits(bytes[clock + 3]) <= 31 &&
    digits(bytes[clock + 4]) <= 12 &&
    digits(bytes[clock + 5]) <= 99
  );
}

/** The two BCD digits of a byte; NaN, which no comparison accepts, where it is none. */
export function digits(byte: number | undefined): number {
  const value = byte ?? 0xff;
  return value >> 4 <= 9 && (value & 0x0f) <= 9 ? (value >> 4) * 10 + (value & 0x0f) : Number.NaN;
}
