import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, readingsOf } from "../../wire/report.ts";
import { hasWideMnc, readCell } from "./cells.ts";
import { readCard } from "./clones.ts";
import { readGps, readOlderGps } from "./gps.ts";
import { readVoltageStatus } from "./heartbeat.ts";
import { cell4gSize, cellSize, readCellOfNetwork } from "./location.ts";
import { acknowledged, type Handler, row } from "./row.ts";
import type { Session } from "./session.ts";
import {
  readAlarm,
  readBattery,
  readMileage,
  readModulesOfStatus,
  readSignal,
  readTerminal,
  readWideAlarm,
} from "./status.ts";

/** Terminal information, voltage level, signal, alarm and language. */
const statusSize = 5;

/**
 * The cell behind its length byte, which some trackers count with and some without itself, and which is 0 where no cell
 * follows. `behind`: bytes of status and fence behind it. What is left over is at most a mileage of four bytes and a
 * card of eight.
 */
function readLengthAndCell(reader: Reader, report: Draft, behind: number, recent = false): void {
  if (reader.remaining === 0) return;
  if (reader.u8() === 0) {
    // Firmware without a cell leaves the places of seven empty cells instead of none.
    if (reader.remaining >= 45 + behind) reader.skip(45);
    return;
  }
  const space = reader.remaining - behind;
  const wide = hasWideMnc(reader) ? 1 : 0;
  const longCell = space === 9 || space === 13 ? 1 : wide;
  const size = recent ? cell4gSize + wide : cellSize + longCell;
  if (space >= size) readCell(reader, report, size);
}

/** Behind the status: mileage (0x26, JM-VL03 v1.1.2), or the card that TRX16i adds. */
function readRest(reader: Reader, report: Draft): void {
  if (reader.remaining === 8) readCard(reader, report, 8);
  else if (reader.remaining >= 4) readMileage(reader, report);
}

function readLevels(reader: Reader, report: Draft): void {
  if (reader.remaining < 3) return;
  readTerminal(reader, report);
  readBattery(reader, report);
  readSignal(reader, report);
}

/** 0x16 and 0x26 (GT06 v1.8.1, 5.3; JM-VL03 v1.1.2): location, cell, status. */
const alarm: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const position = readOlderGps(reader, report, session, message.type);
  readLengthAndCell(reader, report, statusSize);
  readLevels(reader, report);
  readAlarm(reader, report, context.options.model);
  readRest(reader, report);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x16 of VXT01: no length byte, supply voltage for the voltage level. */
const vxt01: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const position = readOlderGps(reader, report, session, message.type);
  readCell(reader, report, cellSize);
  readVoltageStatus(reader, report, context);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x27, and with a 4G cell 0xA3 and 0xA4: as 0x26; 0x27 and 0xA4 with the number of the fence behind (0xFF: none). */
function fenced(fence: boolean, recent: boolean): Handler {
  return (message, session, context) => {
    const { reader } = message;
    const report = draft();
    const position = readGps(reader, report);
    readLengthAndCell(reader, report, statusSize + (fence ? 1 : 0), recent);
    readLevels(reader, report);
    readWideAlarm(reader, report, context.options.model);
    if (fence && reader.remaining > 0) {
      const number = reader.u8();
      if (number !== 0xff) report.attributes.geofence = number;
    }
    readRest(reader, report);
    return acknowledged(message, session, fixOf(position, report));
  };
}

/**
 * 0x32 of AZ735 and SL4X: as 0x26; SL4X has an MNC of two bytes, a cell number of four, and the altitude behind the
 * status.
 */
const az735: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  const long = reader.peek() === 10 && reader.remaining >= 1 + 10 + statusSize;
  if (long) {
    reader.skip(1);
    readCell(reader, report, 10);
  } else readLengthAndCell(reader, report, statusSize);
  readLevels(reader, report);
  readAlarm(reader, report, context.options.model);
  const altitude = long && reader.remaining >= 2 ? reader.i16() : undefined;
  return acknowledged(message, session, fixOf({ ...position, altitude }, report));
};

/** 0x39 of Jimi's 4G trackers: location, cell, status and modules. */
const modular: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCellOfNetwork(reader, report);
  readLevels(reader, report);
  readWideAlarm(reader, report, context.options.model);
  readModulesOfStatus(reader, report);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x19 (GT03A/B v1.82, 5.8) and with a 4G cell 0xA5: cell and status. */
function withoutLocation(size: number): Handler {
  return (message, session, context) => {
    const { reader } = message;
    const report = draft();
    readCell(reader, report, hasWideMnc(reader) ? size + 1 : size);
    readLevels(reader, report);
    readAlarm(reader, report, context.options.model);
    return acknowledged(message, session, readingsOf(report));
  };
}

/** Largest content of 0x19: Space10X trackers have a message of 18 bytes there, which no manual lays out. */
const cellAlarmSize = 17;

/** Alarms. Each is acknowledged, or the tracker sends it again. */
export const alarmRows: readonly MessageRow<Session>[] = [
  row("alarm (VXT01)", [0x16], vxt01, (size) => size === 31),
  row("alarm", [0x16, 0x26], alarm),
  row("alarm with fence", [0x27], fenced(true, false)),
  row("alarm with fence (4G)", [0xa4], fenced(true, true)),
  row("alarm (4G)", [0xa3], fenced(false, true), (size) => size >= 30),
  row("alarm (AZ735, SL4X)", [0x32], az735),
  row("alarm with modules", [0x39], modular),
  row("cell alarm", [0x19], withoutLocation(cellSize), (size) => size <= cellAlarmSize),
  row("cell alarm (4G)", [0xa5], withoutLocation(cell4gSize)),
];
