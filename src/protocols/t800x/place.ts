import type { Fix, ReadingsReport } from "../../model/effects.ts";
import { type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import { bcd, Reader } from "../../wire/reader.ts";
import { type Draft, fixOf, readingsOf } from "../../wire/report.ts";
import { bcdTime } from "../../wire/time.ts";
import { roundDegrees } from "../../wire/units.ts";

/** Where a message says that its device is. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude: number | undefined;
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

/** Bytes of altitude, longitude, latitude, speed and course, or of cells. */
export const placeLength = 16;
/** No altitude, in metres, is beyond. */
const mostAltitude = 100_000;
/** Bit of the first byte of cells: they are one of 4G. */
const is4g = 0x80;
const accessPointLength = 7;

/** Six bytes of packed BCD, year first; undefined where they are no date. */
export function readTime(reader: Reader): number | undefined {
  return bcdTime(reader.take(6), 0);
}

/** Packed BCD whose last digits stand behind the point; undefined where it is none. */
export function readDecimal(reader: Reader, bytes: 1 | 2, divisor: 10 | 100): number | undefined {
  const value = bcd(reader.take(bytes));
  return value === undefined ? undefined : value / divisor;
}

/** A percentage in BCD: 0 stands for 100. */
export function readPercent(reader: Reader): number | undefined {
  const value = bcd(reader.take(1));
  return value === 0 ? 100 : value;
}

/** Altitude, longitude and latitude; undefined where they are filled up, no numbers or nowhere. */
export function readCoordinates(reader: Reader): Pick<Place, "latitude" | "longitude" | "altitude"> | undefined {
  const [altitude, longitude, latitude] = [reader.f32le(), reader.f32le(), reader.f32le()];
  if (longitude === undefined || latitude === undefined) return undefined;
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) return undefined;
  const known = altitude !== undefined && Math.abs(altitude) <= mostAltitude;
  return {
    latitude: roundDegrees(latitude) + 0,
    longitude: roundDegrees(longitude) + 0,
    altitude: known ? Math.round(altitude * 10) / 10 + 0 : undefined,
  };
}

/**
 * The block of 16 bytes: where GPS has a place, altitude, longitude, latitude, speed in tenths, course. Otherwise
 * cells, which become an attribute.
 */
export function readPlace(reader: Reader, located: boolean, report: Draft, isOld: boolean): Place | undefined {
  const block = new Reader(reader.take(placeLength));
  if (located) {
    const coordinates = readCoordinates(block);
    if (coordinates === undefined) return undefined;
    return { ...coordinates, speed: readDecimal(block, 2, 10), course: block.u16() };
  }
  putCells(report, isOld ? oldCells(block) : cellsOf(block));
  return undefined;
}

/** Adds what is known of cells. */
export function putCells(report: Draft, cells: readonly Cell[]): void {
  const text = cellsText(cells);
  if (text !== undefined) report.attributes.cells = text;
}

/** Country, network and three pairs of area and cell, the lower byte first. */
function oldCells(block: Reader): readonly Cell[] {
  const [mcc, mnc] = [block.u16le(), block.u16le()];
  return gsmCells(mcc, mnc, () => block.u16le());
}

/**
 * Of 4G country, network, cell and tracking area, then physical cells; otherwise country, network and three pairs of
 * area and cell.
 */
export function cellsOf(block: Reader): readonly Cell[] {
  if ((block.peek() & is4g) === 0) {
    const [mcc, mnc] = [block.u16(), block.u16()];
    return gsmCells(mcc, mnc, () => block.u16());
  }
  const [country, mnc, cellId, lac] = [block.u16(), block.u16(), block.u32(), block.u16()];
  return isCountry(country & 0x7fff) ? [{ mcc: country & 0x7fff, mnc, lac, cellId }] : [];
}

function gsmCells(mcc: number, mnc: number, next: () => number): readonly Cell[] {
  const pairs = [0, 1, 2].map(() => ({ mcc, mnc, lac: next(), cellId: next() }));
  if (!isCountry(mcc)) return [];
  return pairs.filter(({ lac, cellId }) => lac !== 0xffff && cellId !== 0xffff && (lac !== 0 || cellId !== 0));
}

/** Codes of countries (ITU-T E.212). */
function isCountry(mcc: number): boolean {
  return mcc >= 200 && mcc <= 799;
}

/** The device's own address, and three access points with the strength of each. */
export function putWifi(report: Draft, reader: Reader): void {
  report.attributes.ownMac = reader.hex(6);
  const points = [0, 1, 2].flatMap(() => {
    const block = new Reader(reader.take(accessPointLength));
    const [mac, signal] = [block.hex(6), block.i8()];
    return /^(?:f{12}|0{12})$/.test(mac) ? [] : [{ mac, ...(signal !== -1 && { signal }) }];
  });
  const text = wifiText(points);
  if (text !== undefined) report.attributes.wifi = text;
}

/** A fix where there is a place, otherwise the readings alone. */
export function reportOf(place: Place | undefined, time: number | undefined, report: Draft): Fix | ReadingsReport {
  return place === undefined ? readingsOf(report, time) : fixOf({ ...place, time, valid: true }, report);
}
