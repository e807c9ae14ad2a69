import type { Reader } from "../../wire/reader.ts";
import type { Position } from "../../wire/report.ts";
import { utc } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";

/** What a position is without its time. */
export type Place = Omit<Position, "time">;

/** Whether mode 1 of the GPS receiver tells of a solution; 7 is dead reckoning. */
export function isSolution(mode: number): boolean {
  const kind = mode & 7;
  return kind >= 2 && kind <= 6;
}

function degrees(radians: number): number {
  return roundDegrees((radians * 180) / Math.PI);
}

/** A speed in km/h, or an altitude in metres, that no tracker can have is a damaged one. */
function within(value: number): number | undefined {
  return Math.abs(value) <= 100_000 ? value : undefined;
}

/** Longitude and latitude in 1e-8 rad, altitude in cm, speed in cm/s or m/s, course in 1e-3 rad. */
export function readPlace(reader: Reader, mode: number, speed: "cm/s" | "m/s"): Place {
  return {
    valid: isSolution(mode),
    longitude: degrees(reader.i32le() / 1e8),
    latitude: degrees(reader.i32le() / 1e8),
    altitude: within(reader.i32le() / 100),
    speed: within(speed === "cm/s" ? Math.round(reader.u32le() * 36) / 1000 : Math.round(reader.u8() * 36) / 10),
    course: Math.round((reader.u16le() / 1000) * (180 / Math.PI) * 100) / 100,
  };
}

/** The same of the variant: 1e-7 degrees, cm, km/h, 1e-3 degrees. */
export function readVariantPlace(reader: Reader, mode: number): Place {
  return {
    valid: isSolution(mode),
    longitude: reader.i32le() / 1e7,
    latitude: reader.i32le() / 1e7,
    altitude: within(reader.i32le() / 100),
    speed: within(reader.u32le()),
    course: reader.u16le() / 1000,
  };
}

/** Second, minute, hour, day, month, year; the year has one byte or two. */
export function readTime(reader: Reader, yearBytes: 1 | 2): number | undefined {
  const [second, minute, hour] = [reader.u8(), reader.u8(), reader.u8()];
  const [day, month] = [reader.u8(), reader.u8()];
  const year = yearBytes === 1 ? 2000 + reader.u8() : reader.u16le();
  return year < 2000 ? undefined : utc(year, month, day, hour, minute, second);
}
