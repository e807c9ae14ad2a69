import type { Effect } from "../../model/effects.ts";
import { type AccessPoint, type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, type Position, put, readingsOrNothing } from "../../wire/report.ts";

/** One report of a message while its keys are read. */
export interface Group {
  readonly report: Draft;
  readonly cells: Cell[];
  readonly wifi: AccessPoint[];
  /** Time of the report. */
  time: number | undefined;
  /** Time of an event, where the report has none. */
  eventTime: number | undefined;
  place: Omit<Position, "time"> | undefined;
}

/** A report of which nothing has been read. */
export function newGroup(): Group {
  return { report: draft(), cells: [], wifi: [], time: undefined, eventTime: undefined, place: undefined };
}

/** Seconds since 1970. */
export function secondsOf(reader: Reader): number {
  return reader.u32le() * 1000;
}

/** Latitude and longitude in 1e-7 degrees. */
export function coordinates(reader: Reader): { readonly latitude: number; readonly longitude: number } {
  return { latitude: reader.i32le() / 1e7, longitude: reader.i32le() / 1e7 };
}

/** HDOP in tenths. */
export function putHdop(report: Draft, tenths: number): void {
  put(report, "hdop", tenths / 10, "horizontalDilution");
}

/** A device's address, whose last byte comes first. */
export function macOf(reader: Reader): string {
  return reader.take(6).slice().reverse().toHex();
}

/** The rest of a value as text, up to a zero. */
export function textOf(reader: Reader, count = reader.remaining): string {
  const [text = ""] = new TextDecoder().decode(reader.take(count)).split("\0");
  return text;
}

/** What the keys of a report come to. */
export function effectOf({ report, cells, wifi, time, eventTime, place }: Group): Effect {
  const cellList = cellsText(cells);
  if (cellList !== undefined) report.attributes.cells = cellList;
  const wifiList = wifiText(wifi);
  if (wifiList !== undefined) report.attributes.wifi = wifiList;
  if (place !== undefined) return fixOf({ time: time ?? eventTime, ...place }, report);
  return readingsOrNothing(report, "nothing to store", time ?? eventTime);
}
