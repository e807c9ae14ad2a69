import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, readingsOf } from "../../wire/report.ts";
import { hasWideMnc, readCell } from "./cells.ts";
import { gpsSize, readDate, readGps, readOlderGps, startsWithPlace } from "./gps.ts";
import { acknowledged, type Handler, row, silent } from "./row.ts";
import { clockOffset, type Session } from "./session.ts";
import { readMileage, readUpload } from "./status.ts";

/** Size of the serving cell's block: MCC 2, MNC 1, LAC 2, cell 3; of 4G LAC 4, cell 8. */
export const cellSize = 8;
export const cell4gSize = 15;

/** ACC, upload mode and re-upload (3 bytes), mileage (4), or both, as far as a version of the message has them. */
export function readTail(reader: Reader, report: Draft): void {
  if (reader.remaining !== 4 && reader.remaining >= 3) readUpload(reader, report);
  if (reader.remaining >= 4) readMileage(reader, report);
}

/** A location in UTC with its cell and tail (JM-VL03 v1.1.2, 0x22 and 0xA0). */
function located(size: number): Handler {
  return (message, session) => {
    const { reader } = message;
    const report = draft();
    const position = readGps(reader, report);
    const cell = hasWideMnc(reader) ? size + 1 : size;
    if (reader.remaining >= cell) readCell(reader, report, cell);
    readTail(reader, report);
    return acknowledged(message, session, fixOf(position, report));
  };
}

/** A location by the tracker's clock (GT06 v1.8.1, 5.2); behind that of 0x12 stand its cell and tail. */
const older: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readOlderGps(reader, report, session, message.type);
  if (message.type === 0x12) {
    const cell = hasWideMnc(reader) ? cellSize + 1 : cellSize;
    if (reader.remaining >= cell) readCell(reader, report, cell);
    readTail(reader, report);
  }
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x11 with a location: the MNC takes two bytes and the cell number four. */
const locationWideCell: Handler = (message, session) => {
  const report = draft();
  const position = readOlderGps(message.reader, report, session, message.type);
  if (message.reader.remaining >= 10) readCell(message.reader, report, 10);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x11 without one: date and serving cell (GT03A/B v1.82, 5.3). */
const cellOnly: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  readCell(reader, report, cellSize);
  const time = date === undefined ? undefined : date - clockOffset(session, message.type);
  return acknowledged(message, session, readingsOf(report, time));
};

/** Modules: number 2, length 1, value. Reads those of a location; others are passed over. */
function readModules(reader: Reader, report: Draft): number | undefined {
  let accuracy: number | undefined;
  while (reader.remaining >= 3) {
    const id = reader.u16();
    const length = reader.u8();
    if (length > reader.remaining) break;
    const next = reader.offset + length;
    if (id === 0x27 && length === 2) report.readings.externalVoltage = reader.u16() / 100;
    else if (id === 0x2e && length === 4) readMileage(reader, report);
    else if (id === 0x3b && length === 2) accuracy = reader.u16() / 100;
    reader.seek(next);
  }
  return accuracy;
}

/** 0x37: a location with modules behind it. */
const modular: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, hasWideMnc(reader) ? cellSize + 1 : cellSize);
  readUpload(reader, report);
  const accuracy = readModules(reader, report);
  if (accuracy !== undefined) report.readings.accuracy = accuracy;
  return acknowledged(message, session, fixOf(position, report));
};

/** The cell of 0x38 and 0x39, whose first byte says the network's generation: 3 and above have long fields. */
export function readCellOfNetwork(reader: Reader, report: Draft): void {
  const recent = reader.u8() >= 3;
  const size = recent ? cell4gSize : cellSize;
  readCell(reader, report, hasWideMnc(reader) ? size + 1 : size);
  reader.skip(recent ? 2 : 1);
}

/** 0x38 of Jimi's 4G trackers: upload mode and re-upload ahead of the cell, modules behind it. */
const modular4g: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  report.attributes.uploadMode = reader.u8();
  if (reader.u8() > 0) report.attributes.archive = true;
  readCellOfNetwork(reader, report);
  const accuracy = readModules(reader, report);
  if (accuracy !== undefined && accuracy > 0) report.readings.accuracy = accuracy;
  return silent(session, fixOf(position, report));
};

/** 0x1A: a location and the telephone number that asked for its address (GT03A/B v1.82, 5.9). */
const withPhone: Handler = (message, session) => {
  const report = draft();
  const position = readOlderGps(message.reader, report, session, message.type);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x1E: a location with an extension that the manual at hand does not lay out. */
const plain: Handler = (message, session) => {
  const report = draft();
  const position = readGps(message.reader, report);
  return acknowledged(message, session, fixOf(position, report));
};

/**
 * A message that no manual at hand lays out, and whose content begins as that of a location does: the place counts, the
 * rest is passed over.
 */
export const otherLocation: MessageRow<Session> = {
  ...row("location of another layout", undefined, older),
  when: startsWithPlace,
};

/** Locations as most trackers send them. 0x2D and 0x31 are laid out as 0x22. */
export const locationRows: readonly MessageRow<Session>[] = [
  row("location (UTC)", [0x22, 0x2d, 0x31], located(cellSize)),
  row("location (4G)", [0xa0], located(cell4gSize)),
  row("cell", [0x11], cellOnly, (size) => size < gpsSize),
  row("location with wide cell", [0x11], locationWideCell),
  row("location", [0x10, 0x12], older),
  row("location with modules", [0x37], modular),
  row("location with modules (4G)", [0x38], modular4g),
  row("location with phone number", [0x1a], withPhone),
  row("location with extension", [0x1e], plain),
];
