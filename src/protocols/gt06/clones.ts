import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise } from "../../wire/report.ts";
import { raiseCode } from "./alarm-codes.ts";
import { readCell } from "./cells.ts";
import { contentOffset, contentSize, open } from "./envelope.ts";
import { gpsSize, readDate, readGps, readOlderGps } from "./gps.ts";
import { cell4gSize, cellSize } from "./location.ts";
import { acknowledged, type Handler, modelIs, row, silent } from "./row.ts";
import type { Session } from "./session.ts";
import {
  readAlarm,
  readBattery,
  readBatteryVoltage,
  readMileage,
  readSignal,
  readSupply,
  readTerminal,
  readUpload,
  signed,
} from "./status.ts";

/** Bytes of hex of a card or key, unless it is all zero. */
export function readCard(reader: Reader, report: Draft, count: number): void {
  const card = reader.hex(count);
  if (!/^0*$/.test(card)) report.readings.driverId = card;
}

/** 0x12 of a clone: the location and cell of the original, and what `tail` reads behind them. */
function older(tail: (reader: Reader, report: Draft, context: DecodeContext) => void): Handler {
  return (message, session, context) => {
    const { reader } = message;
    const report = draft();
    const position = readOlderGps(reader, report, session, message.type);
    readCell(reader, report, cellSize);
    tail(reader, report, context);
    return acknowledged(message, session, fixOf(position, report));
  };
}

/**
 * Benway: bits 15 ACC, 14 input 2, 12 temperature (9 bits, bit 9 its sign), else bits 0 to 9 an input in tenths of a
 * volt, or with bit 13 a plain count.
 */
const benway = older((reader, report) => {
  const mask = reader.u16();
  report.readings.ignition = (mask & 0x8000) !== 0;
  report.readings.input2 = (mask & 0x4000) !== 0;
  if (mask & 0x1000) put(report, "temperature", signed(mask, 0x0200), "temperatureCode");
  else if (mask & 0x2000) report.attributes.adc1 = mask & 0x03ff;
  else report.readings.analog1 = (mask & 0x03ff) / 10;
});

/** VXT01: terminal information, supply in hundredths of a volt, signal, alarm. */
const vxt01 = older((reader, report) => {
  readTerminal(reader, report, true);
  readSupply(reader, report);
  readSignal(reader, report);
});

/** S5: as VXT01 with an alarm, a fuel sensor's value, temperature (bit 7 its sign) and mileage in tens of metres. */
const s5 = older((reader, report, context) => {
  readTerminal(reader, report);
  readSupply(reader, report);
  readSignal(reader, report);
  raiseCode(report, reader.u8(), context.options.model);
  report.attributes.oil = reader.u16();
  put(report, "temperature", signed(reader.u8(), 0x80), "temperatureCode");
  report.readings.odometer = reader.u32() / 100;
});

/** WeTrust: mileage, a card's text, whether it was swiped wrongly, its status and the driving time. */
const wetrust = older((reader, report) => {
  readMileage(reader, report);
  const card = reader.latin1(reader.u8());
  if (!/^0*$/.test(card)) report.readings.driverId = card;
  if (reader.u8() > 0) raise(report, "general");
  report.attributes.cardStatus = reader.u8();
  report.attributes.drivingTime = reader.u16();
});

/** GT06E with a card reader: mileage and the magnetic card's text, padded with zero bytes. */
const card = older((reader, report) => {
  readMileage(reader, report);
  const text = reader.latin1(reader.u8()).replaceAll("\0", " ").trim();
  if (text !== "") report.attributes.card = text;
});

/** An IMEI's 15 digits behind a zero, in eight bytes. */
const imeiSize = 8;
const imeiPattern = /^0\d{15}$/;

/**
 * Whether a frame's content begins with an IMEI and then a date: a date at the start is that of a location without
 * IMEI.
 */
function beginsWithImei(frame: Uint8Array): boolean {
  const size = contentSize(frame);
  if (size < imeiSize + gpsSize) return false;
  const start = contentOffset(frame);
  const month = frame[start + 1] ?? 0;
  // Nearly all end here.
  if (month >= 1 && month <= 12 && readDate(new Reader(frame, start, start + size)) !== undefined) return false;
  const reader = new Reader(frame, start, start + size);
  return imeiPattern.test(reader.hex(imeiSize)) && readDate(reader) !== undefined;
}

/** 0x12 of QH302R and others that put the IMEI ahead of the location: it says who speaks, also without a login. */
const imeiAhead: MessageRow<Session> = {
  name: "location with IMEI ahead",
  keys: [0x12],
  when: (frame, _session, context) => modelIs(context, "QH302R") || beginsWithImei(frame),
  handle: (frame, session, context) => {
    const message = open(frame, context.options);
    if (message === undefined) return { session, effects: [{ type: "failure", cause: "badChecksum" }] };
    const { reader } = message;
    const report = draft();
    const ids = [reader.hex(imeiSize).slice(1)];
    const position = readOlderGps(reader, report, session, message.type);
    if (reader.remaining >= cellSize) readCell(reader, report, cellSize);
    const located = acknowledged(message, session, fixOf(position, report));
    return { session, effects: [{ type: "identify", ids }, ...located.effects] };
  },
};

/**
 * 0x22 of SEEWORLD: cell numbers of four bytes, travel time, temperature (bit 15 its sign) and humidity in hundredths.
 */
const seeworld: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, cellSize + 1);
  readUpload(reader, report);
  readMileage(reader, report);
  report.attributes.travelTime = reader.u32();
  put(report, "temperature", signed(reader.u16(), 0x8000) / 100, "temperatureCode");
  put(report, "humidity", reader.u16() / 100, "humidityCode");
  return acknowledged(message, session, fixOf(position, report));
};

/**
 * 0x22 and 0x25 of the NT series: source of the location, IMEI, time of sending, location, cell, status, supply,
 * battery and, in 0x25, the driver's key. Mileage in metres and engine time in minutes, three bytes each.
 */
const nt: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  report.attributes.locationSource = reader.u8();
  reader.skip(8);
  readDate(reader);
  const position = readGps(reader, report);
  const length = reader.u8();
  readCell(reader, report, message.type === 0x25 ? cellSize + 1 : cellSize);
  if (length > 9) reader.skip(length - 9);
  readTerminal(reader, report);
  readSupply(reader, report);
  readBatteryVoltage(reader, report);
  readSignal(reader, report);
  readAlarm(reader, report, context.options.model);
  report.readings.odometer = reader.u24() / 1000;
  report.readings.engineSeconds = reader.u24() * 60;
  if (reader.remaining > 1) {
    const driver = reader.u8();
    if (driver > 1) {
      reader.skip(1);
      readCard(reader, report, driver - 1);
    }
  }
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x31 of SL4X: MNC of two bytes and cell number of four; mileage and altitude. */
const sl4x: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, 10);
  readUpload(reader, report);
  if (reader.remaining >= 6) readMileage(reader, report);
  return acknowledged(message, session, fixOf({ ...position, altitude: reader.i16() }, report));
};

/**
 * 0x34 of X1: location, terminal, mileage, cell, driver, supply and battery, ports and the analogue inputs that they
 * count.
 */
const x1: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  reader.skip(4);
  const position = readGps(reader, report);
  reader.skip(2);
  readMileage(reader, report);
  readCell(reader, report, cellSize + 1);
  const driver = reader.u32();
  if (driver > 0) report.readings.driverId = String(driver);
  readSupply(reader, report);
  report.readings.batteryVoltage = reader.u16() / 100;
  const analogues = (reader.u32() >>> 20) & 0x0f;
  report.attributes.inputs = reader.u8();
  report.attributes.outputs = reader.u8();
  const names = ["analog1", "analog2", "analog3", "analog4"] as const;
  for (const name of names.slice(0, analogues)) report.readings[name] = reader.u16() / 100;
  return silent(session, fixOf(position, report));
};

/** 0x36 of TRX16i: mileage, supply, battery, engine time and the RFID card. */
const trx16i: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, cellSize + 1);
  readUpload(reader, report);
  readMileage(reader, report);
  readSupply(reader, report);
  readBatteryVoltage(reader, report);
  report.readings.engineSeconds = reader.u24() * 60;
  readCard(reader, report, 8);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0xA2 of the LW 4G series: location, 4G cell, status, supply, mileage, engine time, IMEI and inputs. */
const lw4g: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, message.size > 59 ? cell4gSize + 1 : cell4gSize);
  reader.skip(1);
  readTerminal(reader, report);
  readSupply(reader, report);
  readBattery(reader, report);
  readSignal(reader, report);
  readAlarm(reader, report, context.options.model);
  readMileage(reader, report);
  report.readings.engineSeconds = reader.u32();
  reader.skip(8);
  report.attributes.inputs = reader.u16();
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x24 of SR411 Mini: ACC, supply and battery. */
const sr411: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, cellSize);
  report.readings.ignition = reader.u8() > 0;
  readSupply(reader, report);
  report.readings.batteryVoltage = reader.u16() / 100;
  return silent(session, fixOf(position, report));
};

/** 0x61: IMEI, location, cell and the iButton of the driver. */
const ibutton: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  reader.skip(8);
  const position = readGps(reader, report);
  readCell(reader, report, cellSize + 1);
  const key = reader.u48();
  if (key > 0) report.readings.driverId = String(key);
  return acknowledged(message, session, fixOf(position, report));
};

/** 0x17 with a location: an RFID card and whether it is known. */
const rfid: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const position = readGps(reader, report);
  readCell(reader, report, cellSize);
  readCard(reader, report, 8);
  report.attributes.cardValid = reader.u8() > 0;
  return acknowledged(message, session, fixOf(position, report));
};

const original = gpsSize + cellSize;
const is =
  (...sizes: readonly number[]) =>
  (size: number) =>
    sizes.includes(size);

/** Locations of clones, known by the size of their content; they come before the originals. */
export const cloneRows: readonly MessageRow<Session>[] = [
  imeiAhead,
  row("location (Benway)", [0x12], benway, is(original + 2)),
  row("location (VXT01)", [0x12], vxt01, is(original + 5)),
  row("location (WeTrust)", [0x12], wetrust, is(original + 10)),
  row("location (S5)", [0x12], s5, is(original + 12)),
  row("location (GT06E card)", [0x12], card, (size) => size >= 108),
  row("location (SEEWORLD)", [0x22], seeworld, is(42)),
  row("location (NT series)", [0x22, 0x25], nt, (size) => size >= 55),
  row("location (SL4X)", [0x31], sl4x, is(37)),
  row("location (X1)", [0x34], x1, (size) => size >= 51),
  row("location (TRX16i)", [0x36], trx16i, is(48)),
  row("location (LW 4G)", [0xa2], lw4g, is(59, 60)),
  row("location (SR411 Mini)", [0x24], sr411, is(41)),
  row("location with iButton", [0x61], ibutton),
  row("location with RFID card", [0x17], rfid, is(35)),
];
