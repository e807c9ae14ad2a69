import { cellsText } from "../../wire/radio.ts";
import { bcd, bit, type Reader } from "../../wire/reader.ts";
import { type Draft, type Position, put } from "../../wire/report.ts";
import { degreesOf, mismatch } from "../../wire/text.ts";
import { utc } from "../../wire/time.ts";
import { kmhOfKnots } from "../../wire/units.ts";

/** The two digits of a number of packed digits that stand before so many others. */
function pair(digits: number, others: number): number {
  return Math.trunc(digits / 10 ** others) % 100;
}

/**
 * Epoch ms of twelve packed digits `ddmmyyhhmmss`. Undefined, with what was reported as attributes: there is no such
 * date. `mismatch`: they are no digits.
 */
export function readTime(reader: Reader, report: Draft): number | undefined | typeof mismatch {
  const digits = bcd(reader.take(6));
  if (digits === undefined) return mismatch;
  const time = utc(pair(digits, 6), pair(digits, 8), pair(digits, 10), pair(digits, 4), pair(digits, 2), digits % 100);
  if (time === undefined) {
    const text = String(digits).padStart(12, "0");
    report.attributes.reportedDate = text.slice(0, 6);
    report.attributes.reportedTime = text.slice(6);
  }
  return time;
}

/**
 * What every binary position begins with, 17 bytes: time, latitude `ddmmmmmm` and longitude `dddmmmmmm` in packed
 * digits, four bits (fixed, north, east), speed in knots, half the course. Undefined: it can't be read.
 */
export function readPlace(reader: Reader, report: Draft): Position | undefined {
  const time = readTime(reader, report);
  const north = bcd(reader.take(4));
  const high = bcd(reader.take(4));
  const last = reader.u8();
  if (time === mismatch || north === undefined || high === undefined || last >> 4 > 9) return undefined;
  const latitude = degreesOfDigits(north);
  const longitude = degreesOfDigits(high * 10 + (last >> 4));
  if (latitude === mismatch || longitude === mismatch) return undefined;
  return {
    time,
    valid: bit(last, 0),
    latitude: bit(last, 1) ? latitude : 0 - latitude,
    longitude: bit(last, 2) ? longitude : 0 - longitude,
    speed: kmhOfKnots(reader.u8()),
    course: reader.u8() * 2,
  };
}

function degreesOfDigits(digits: number): number | typeof mismatch {
  return degreesOf(Math.trunc(digits / 1e6), (digits % 1e6) / 1e4);
}

/** What a tracker says of its network. `signal` is 0 to 31; trackers that do not measure send 0 or 99. */
export interface Network {
  readonly mcc?: number | undefined;
  readonly mnc?: number | undefined;
  readonly lac: number;
  readonly cellId: number;
  readonly signal: number;
}

/** Puts the serving cell and the strength of its signal: -113 dBm and 2 dB a step. */
export function putNetwork({ mcc, mnc, lac, cellId, signal }: Network, report: Draft): void {
  const measured = signal > 0 && signal <= 31 ? signal : undefined;
  if (measured !== undefined) put(report, "rssi", measured * 2 - 113, "csq");
  if (cellId === 0) return;
  const country = mcc === 0 ? {} : { mcc, mnc };
  const cells = cellsText([{ ...country, lac, cellId, signal: measured }]);
  if (cells !== undefined) report.attributes.cells = cells;
}
