import type { Effect } from "../../model/effects.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, type Position, put, readingsOf } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";
import { raiseStates } from "./alarms.ts";

/** A position of GPS_DATA, and its satellites. */
export interface GpsItem extends Position {
  readonly satellites: number;
}

/**
 * GPS_DATA: day, month, year, time, latitude and longitude in 1/3,600,000 of a degree, speed in cm/s, course in tenths,
 * flags: bit 0 east, 1 north, 2 and 3 the fix, 4 to 7 satellites.
 */
export function readGps(reader: Reader): GpsItem {
  const [day, month, year] = [reader.u8(), reader.u8(), reader.u8()];
  const time = utc(2000 + year, month, day, reader.u8(), reader.u8(), reader.u8());
  const latitude = roundDegrees(reader.u32le() / 3_600_000);
  const longitude = roundDegrees(reader.u32le() / 3_600_000);
  const speed = Math.round(reader.u16le() * 36) / 1000;
  const course = reader.u16le() / 10;
  const flags = reader.u8();
  return {
    time,
    valid: (flags & 0x0c) !== 0,
    latitude: bit(flags, 1) ? latitude : 0 - latitude,
    longitude: bit(flags, 0) ? longitude : 0 - longitude,
    speed,
    course,
    satellites: flags >> 4,
  };
}

/** Bits of VSTATE. */
export const ignition = 18;
const malfunction = 23;

/** STAT_DATA while the rest of its message is read. */
export interface Status {
  /** The tracker's clock, epoch ms; undefined where it was never set. */
  readonly time: number | undefined;
  readonly report: Draft;
}

/** STAT_DATA: when the ignition came on, the time, distances in m, fuel in 0.01 l, VSTATE, 8 reserved bytes. */
export function readStatus(reader: Reader): Status {
  const report = draft();
  const started = reader.u32le();
  const clock = reader.u32le();
  if (started > 0) report.attributes.accOnTime = started;
  put(report, "odometer", reader.u32le() / 1000, "totalMileage");
  put(report, "tripOdometer", reader.u32le() / 1000, "currentMileage");
  put(report, "fuelUsed", reader.u32le() / 100, "totalFuel");
  report.attributes.tripFuel = reader.u16le() / 100;
  const state = reader.u32le();
  report.attributes.status = state;
  report.readings.ignition = bit(state, ignition);
  if (bit(state, malfunction)) report.readings.engineLamp = true;
  raiseStates(report, state);
  reader.skip(8);
  return { time: clock > 0 ? clock * 1000 : undefined, report };
}

/** A count of GPS_DATA and the items. */
export function readPositions(reader: Reader): readonly GpsItem[] {
  const positions: GpsItem[] = [];
  for (let left = reader.u8(); left > 0; left--) positions.push(readGps(reader));
  return positions;
}

/**
 * A message's status and positions: the status is of the last position; without any it stands alone. `values` puts what
 * else is known of each.
 */
export function reportsOf(
  { time, report }: Status,
  positions: readonly GpsItem[],
  archive = false,
  values?: (own: Draft, index: number) => void,
): readonly Effect[] {
  const last = positions.length - 1;
  if (last < 0) {
    if (archive) report.attributes.archive = true;
    return [readingsOf(report, time)];
  }
  return positions.map((position, index) => {
    const own = index === last ? report : draft();
    if (archive) own.attributes.archive = true;
    put(own, "satellites", position.satellites, "satellitesUsed");
    values?.(own, index);
    return fixOf(position, own);
  });
}

/** A text that ends with a zero. */
export function readText(reader: Reader): string {
  let text = "";
  for (let byte = reader.remaining > 0 ? reader.u8() : 0; byte !== 0; byte = reader.remaining > 0 ? reader.u8() : 0)
    text += String.fromCharCode(byte);
  return text.trim();
}
