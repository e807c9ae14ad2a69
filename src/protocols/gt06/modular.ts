import type { Alarm } from "../../model/alarms.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, type Position, put, raise, readingsOf } from "../../wire/report.ts";
import { keepCells } from "./cells.ts";
import { positionOf } from "./gps.ts";
import { acknowledged, type Handler, row } from "./row.ts";
import type { Session } from "./session.ts";

/** Event codes of module 0x34. */
const events: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [0x10, "doorOpened"],
  [0x12, "removing"],
  [0x14, "geofenceEnter"],
  [0x15, "geofenceExit"],
  [0x16, "temperature"],
  [0x1a, "lowBattery"],
  [0x1b, "overspeed"],
  [0x1c, "powerOn"],
  [0x1d, "powerOff"],
  [0x20, "vibration"],
  [0x21, "powerCut"],
  [0x23, "tampering"],
]);

/** What the modules of one message give. */
interface Gathered {
  readonly report: Draft;
  position?: Position;
  altitude?: number;
}

type Module = (reader: Reader, gathered: Gathered) => void;

/** Module 0x33: time, satellites, altitude, then as every location. */
const location: Module = (reader, gathered) => {
  const time = reader.u32() * 1000;
  gathered.report.readings.satellites = reader.u8();
  gathered.altitude = reader.i16();
  const latitude = reader.u32();
  const longitude = reader.u32();
  const speed = reader.u8();
  gathered.position = positionOf(time, latitude, longitude, speed, reader.u16());
};

/** Module 0x7F: a Bluetooth tag with its battery, temperature and humidity in tenths. */
const tag: Module = (reader, { report }) => {
  report.attributes.tagId = reader.hex(6);
  report.attributes.tagBatteryVoltage = reader.u16() / 1000;
  report.attributes.tagBattery = reader.u8();
  put(report, "temperature", reader.i16() / 10, "tagTemperature");
  put(report, "humidity", reader.i16() / 10, "tagHumidity");
  report.attributes.tagStatus = reader.u8();
};

const event: Module = (reader, { report }) => {
  const code = reader.u8();
  const alarm = events.get(code);
  raise(report, alarm ?? "general");
  if (alarm === undefined) report.attributes.alarmCode = code;
};

/** Bits 0 to 3 door, 4 to 7 tamper switch. */
const switches: Module = (reader, { report }) => {
  const bits = reader.u8();
  report.readings.doorOpen = (bits & 0x0f) > 0;
  report.attributes.tamper = bits >> 4 > 0;
};

/** Modules of 0x70 by number (Wetrack140 v1.0.0, 2.2). */
const modules: ReadonlyMap<number, Module> = new Map<number, Module>([
  [0x03, (reader, { report }) => (report.readings.iccid = reader.hex(10).replace(/f+$/, ""))],
  [0x09, (reader, { report }) => (report.readings.satellites = reader.u8())],
  [0x0a, (reader, { report }) => (report.readings.satellitesVisible = reader.u8())],
  [0x11, (reader, { report }) => readCellOfModule(reader, report)],
  [0x18, (reader, { report }) => (report.readings.batteryVoltage = reader.u16() / 100)],
  [0x28, (reader, { report }) => put(report, "hdop", reader.u8() / 10, "hdopCode")],
  [0x29, (reader, { report }) => (report.attributes.index = reader.u32())],
  [0x2a, switches],
  [0x2b, (reader, { report }) => (report.attributes.bootReason = reader.u8())],
  [0x2e, (reader, { report }) => (report.readings.odometer = reader.u32() / 1000)],
  [0x33, location],
  [0x34, event],
  [0x7f, tag],
]);

/** MCC 2, MNC 2, LAC 2, cell 3, signal 1. */
function readCellOfModule(reader: Reader, report: Draft): void {
  const mcc = reader.u16();
  const mnc = reader.u16();
  const lac = reader.u16();
  const cellId = reader.u24();
  if (cellId === 0) return;
  keepCells(report, [{ mcc, mnc, lac, cellId, signal: reader.u8() }]);
}

/** 0x70: modules of number 2, length 2 and value; a location among them makes it a fix. */
const modular: Handler = (message, session) => {
  const { reader } = message;
  const gathered: Gathered = { report: draft() };
  while (reader.remaining >= 4) {
    const id = reader.u16();
    const length = reader.u16();
    const next = reader.offset + length;
    modules.get(id)?.(reader, gathered);
    if (reader.offset > next) throw new RangeError("fields outside their module");
    reader.seek(next);
  }
  const { report, position, altitude } = gathered;
  return acknowledged(message, session, position ? fixOf({ ...position, altitude }, report) : readingsOf(report));
};

/** 0x70 of asset trackers, with either start bits; the answer has the short ones. */
export const modularRows: readonly MessageRow<Session>[] = [row("modules", [0x70], modular)];
