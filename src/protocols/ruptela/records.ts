import type { Effect } from "../../model/effects.ts";
import type { Reader } from "../../wire/reader.ts";
import { draft, fixOf, type Position, put, readingsOf } from "../../wire/report.ts";
import { finish, type RecordDraft, readElement, readLongElement } from "./elements.ts";

/** What longitude and latitude are where there is no fix. */
const noFix = -0x8000_0000;

interface Record extends RecordDraft {
  readonly time: number;
  readonly position: Position | undefined;
}

/**
 * GPS element: longitude, latitude (1e-7 degrees), altitude (0.1 m), angle (0.01 degrees), satellites, speed, HDOP
 * (0.1).
 */
function readGps(reader: Reader, time: number, report: Record["report"]): Position | undefined {
  const longitude = reader.i32() / 1e7;
  const latitude = reader.i32() / 1e7;
  const altitude = reader.u16() / 10;
  const course = reader.u16() / 100;
  const satellites = reader.u8();
  const speed = reader.u16();
  const hdop = reader.u8() / 10;
  if (longitude === noFix / 1e7 || latitude === noFix / 1e7) return undefined;
  put(report, "satellites", satellites, "gpsSatellites");
  put(report, "hdop", hdop, "gpsHdop");
  return { time, valid: true, longitude, latitude, altitude, course, speed: speed === 0xffff ? undefined : speed };
}

function readElements(reader: Reader, record: RecordDraft, wide: boolean): void {
  for (const size of [1, 2, 4] as const) {
    const count = reader.u8();
    for (let index = 0; index < count; index++) readElement(record, wide ? reader.u16() : reader.u8(), reader, size);
  }
  const count = reader.u8();
  for (let index = 0; index < count; index++) readLongElement(record, wide ? reader.u16() : reader.u8(), reader);
}

function effectOf(record: Record): Effect {
  finish(record);
  return record.position === undefined ? readingsOf(record.report, record.time) : fixOf(record.position, record.report);
}

/**
 * Commands 1 and 68, "Records" and "Extended records": records left, count, records. An extended record may go on in
 * those after it: its extension says how many follow, and the number of this one.
 */
export function readRecords(reader: Reader, wide: boolean): readonly Effect[] {
  reader.skip(1);
  const count = reader.u8();
  const records: Record[] = [];
  for (let index = 0; index < count; index++) {
    const time = reader.u32() * 1000;
    reader.skip(1);
    const extension = wide ? reader.u8() : 0;
    reader.skip(1);
    const report = draft();
    const position = readGps(reader, time, report);
    const event = wide ? reader.u16() : reader.u8();
    const before = records.at(-1);
    const part = extension & 0x0f;
    const goesOn = part > 0 && part <= extension >> 4 && before !== undefined;
    const record: Record = goesOn ? before : { report, parts: new Map(), time, position };
    record.report.attributes.event = event;
    readElements(reader, record, wide);
    if (!goesOn) records.push(record);
  }
  return records.map(effectOf);
}
