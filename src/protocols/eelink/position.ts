import type { Effect } from "../../model/effects.ts";
import { type AccessPoint, type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, readingsOrNothing } from "../../wire/report.ts";
import { roundDegrees } from "../../wire/units.ts";

/** Steps of a degree. */
const steps = 1_800_000;

/** A place as a package gives it. */
interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude?: number;
  readonly speed: number;
  readonly course: number;
}

/** A position while its package is read. */
export interface PositionRead {
  readonly report: Draft;
  /** Epoch ms. */
  readonly time: number;
  /** Absent where the tracker gives cells and access points only. */
  readonly place?: Place;
}

/** A fix, or readings where there is no place. */
export function effectOf({ report, time, place }: PositionRead, valid: boolean): Effect {
  if (place === undefined) return readingsOrNothing(report, "no place", time);
  return fixOf({ ...place, time, valid }, report);
}

function degrees(reader: Reader): number {
  return roundDegrees(reader.i32() / steps);
}

/**
 * The old protocol's position and whether GPS gave it: no degrees and no GPS is no place. (Terminal Communication
 * Protocol V1.8.4, GPS package)
 */
export function readOldPosition(reader: Reader): { readonly position: PositionRead; readonly valid: boolean } {
  const report = draft();
  const time = reader.u32() * 1000;
  const place = { latitude: degrees(reader), longitude: degrees(reader), speed: reader.u8(), course: reader.u16() };
  putRadio(report, [{ mcc: reader.u16(), mnc: reader.u16(), lac: reader.u16(), cellId: reader.u24() }], []);
  const valid = bit(reader.u8(), 0);
  const isNowhere = !valid && place.latitude === 0 && place.longitude === 0;
  return { position: { report, time, ...(isNowhere ? {} : { place }) }, valid };
}

/**
 * Time, a mask, and what it says: GPS, up to three cells, three access points, and a list of both. (Device Protocol
 * V2.0, 3.6; V2.2)
 */
export function readPosition(reader: Reader): PositionRead {
  const report = draft();
  const time = reader.u32() * 1000;
  const mask = reader.u8();
  const place = bit(mask, 0) ? readGps(reader, report) : undefined;
  const cells: Cell[] = [];
  const points: AccessPoint[] = [];
  if (bit(mask, 1)) cells.push({ mcc: reader.u16(), mnc: reader.u16(), ...readCell(reader) });
  for (const index of [2, 3]) if (bit(mask, index)) cells.push({ ...networkOf(cells[0]), ...readCell(reader) });
  for (const index of [4, 5, 6]) if (bit(mask, index)) points.push(readPoint(reader));
  if (bit(mask, 7)) readList(reader, report, cells, points);
  putRadio(report, cells, points);
  return { report, time, ...(place && { place }) };
}

function readGps(reader: Reader, report: Draft): Place {
  const place = {
    latitude: degrees(reader),
    longitude: degrees(reader),
    altitude: reader.i16(),
    speed: reader.u16(),
    course: reader.u16(),
  };
  put(report, "satellites", reader.u8(), "satelliteCount");
  return place;
}

function readCell(reader: Reader): Cell {
  return { lac: reader.u16(), cellId: reader.u32(), signal: reader.u8() };
}

function networkOf(cell: Cell = {}): Cell {
  return { mcc: cell.mcc, mnc: cell.mnc };
}

function readPoint(reader: Reader): AccessPoint {
  return { mac: reader.hex(6), signal: reader.i8() };
}

/** Bytes of a cell beside the first one: physical cell, frequency, signal. */
const neighbourBytes = 5;

/**
 * Radio access technology, how many cells (3 bits) and access points (4 bits), the serving cell, its neighbours, access
 * points. (Device Protocol V2.2)
 */
function readList(reader: Reader, report: Draft, cells: Cell[], points: AccessPoint[]): void {
  report.attributes.radioTechnology = reader.u8();
  const counts = reader.u8();
  const cellCount = counts & 0x07;
  if (cellCount > 0) {
    const [mcc, mnc, lac] = [reader.u16(), reader.u16(), reader.u16()];
    reader.skip(2);
    const cellId = reader.u32();
    // Timing advance, physical cell, frequency.
    reader.skip(6);
    cells.push({ mcc, mnc, lac, cellId, signal: reader.i8() });
    reader.skip((cellCount - 1) * neighbourBytes);
  }
  for (let index = 0; index < ((counts >> 3) & 0x0f); index++) points.push(readPoint(reader));
}

function putRadio({ attributes }: Draft, cells: readonly Cell[], points: readonly AccessPoint[]): void {
  const known = cellsText(cells.filter(({ mcc }) => mcc !== 0));
  const wifi = wifiText(points);
  if (known !== undefined) attributes.cells = known;
  if (wifi !== undefined) attributes.wifi = wifi;
}
